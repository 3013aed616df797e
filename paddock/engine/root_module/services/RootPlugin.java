// The module's entrance from Elasticsearch 9.5 on: REST handlers are asked for with their services in one object.
package paddock.root;

import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.RestHandler;

public final class RootPlugin extends Plugin implements ActionPlugin {
    @Override
    public Collection<RestHandler> getRestHandlers(
        RestHandlersServices services, Supplier<DiscoveryNodes> nodes, Predicate<NodeFeature> features
    ) {
        return List.of(new RootHandler(services.settings()));
    }
}
