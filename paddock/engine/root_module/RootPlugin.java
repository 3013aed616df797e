// The module's entrance for Elasticsearch 8.13 to 9.3: REST handlers are asked for with nine parameters.
package paddock.root;

import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.IndexScopedSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.settings.SettingsFilter;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.RestController;
import org.elasticsearch.rest.RestHandler;

public final class RootPlugin extends Plugin implements ActionPlugin {
    @Override
    public Collection<RestHandler> getRestHandlers(
        Settings settings,
        NamedWriteableRegistry registry,
        RestController controller,
        ClusterSettings clusterSettings,
        IndexScopedSettings indexSettings,
        SettingsFilter filter,
        IndexNameExpressionResolver resolver,
        Supplier<DiscoveryNodes> nodes,
        Predicate<NodeFeature> features
    ) {
        return List.of(new RootHandler(settings));
    }
}
