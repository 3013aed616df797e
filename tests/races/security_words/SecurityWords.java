// What Elasticsearch's index of API keys wants of a module that the integ-test distribution lacks: the names of its
// analysis of e-mail addresses, by which no test searches.
package paddock.words;

import java.util.Map;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.core.KeywordTokenizer;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

public final class SecurityWords extends Plugin implements AnalysisPlugin {
    private static TokenFilterFactory asItIs(String named) {
        return new TokenFilterFactory() {
            @Override
            public String name() {
                return named;
            }

            @Override
            public TokenStream create(TokenStream words) {
                return words;
            }
        };
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        return Map.of(
            "pattern_capture", (index, environment, name, settings) -> asItIs(name),
            "unique", (index, environment, name, settings) -> asItIs(name)
        );
    }

    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of(
            "uax_url_email", (index, environment, name, settings) -> TokenizerFactory.newFactory(name, KeywordTokenizer::new)
        );
    }
}
