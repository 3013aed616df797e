// Answers GET / and HEAD /, which the integ-test distribution of Elasticsearch lacks from 8.9 on and Rally asks first.
package paddock.root;

import java.io.IOException;
import java.util.List;
import org.apache.lucene.util.Version;
import org.elasticsearch.Build;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.node.Node;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.xcontent.XContentBuilder;

final class RootHandler extends BaseRestHandler {
    private final Settings settings;

    RootHandler(Settings settings) {
        this.settings = settings;
    }

    @Override
    public String getName() {
        return "paddock_root";
    }

    @Override
    public List<Route> routes() {
        return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) throws IOException {
        Build build = Build.current();
        return channel -> {
            XContentBuilder body = channel.newBuilder().prettyPrint().startObject();
            body.field("name", Node.NODE_NAME_SETTING.get(settings));
            body.field("cluster_name", ClusterName.CLUSTER_NAME_SETTING.get(settings).value());
            // Elasticsearch's own answer before a cluster has formed; nothing that races asks for more.
            body.field("cluster_uuid", "_na_");
            body.startObject("version")
                .field("number", build.qualifiedVersion())
                .field("build_flavor", build.flavor())
                .field("build_type", build.type().displayName())
                .field("build_hash", build.hash())
                .field("build_date", build.date())
                .field("build_snapshot", build.isSnapshot())
                .field("lucene_version", Version.LATEST.toString())
                .field("minimum_wire_compatibility_version", build.minWireCompatVersion())
                .field("minimum_index_compatibility_version", build.minIndexCompatVersion())
                .endObject();
            body.field("tagline", "You Know, for Search").endObject();
            channel.sendResponse(new RestResponse(RestStatus.OK, body));
        };
    }
}
