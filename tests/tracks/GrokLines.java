// What Elasticsearch's own grok library finds in lines: of each a line with name=type:value, separated by tabs. A time is
// read and written by the server's own formatters, as the processor date does.
//
//     GrokLines PATTERN FORMAT_OF_TIME [NAME=DEFINITION ...]      lines on stdin

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.elasticsearch.common.time.DateFormatter;
import org.elasticsearch.common.time.DateFormatters;
import org.elasticsearch.grok.Grok;
import org.elasticsearch.grok.GrokBuiltinPatterns;
import org.elasticsearch.grok.MatcherWatchdog;

public final class GrokLines {
    public static void main(String[] arguments) throws Exception {
        Map<String, String> definitions = new HashMap<>();
        for (int number = 2; number < arguments.length; number++) {
            String[] parts = arguments[number].split("=", 2);
            definitions.put(parts[0], parts[1]);
        }
        // The patterns that a processor has which does not name ecs_compatibility.
        Grok grok = new Grok(
            GrokBuiltinPatterns.get("disabled").extendWith(definitions),
            arguments[0],
            MatcherWatchdog.noop(),
            said -> {}
        );
        DateFormatter format = DateFormatter.forPattern(arguments[1]).withLocale(Locale.ENGLISH);
        DateFormatter written = DateFormatter.forPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, Object> found = grok.captures(line);
            if (found != null && found.remove("time") instanceof String time) {
                found.put("@timestamp", written.format(DateFormatters.from(format.parse(time)).withZoneSameInstant(ZoneOffset.UTC)));
            }
            out.println(found == null ? "" : found.entrySet().stream().map(
                one -> one.getKey() + "=" + one.getValue().getClass().getSimpleName() + ":" + one.getValue()
            ).collect(Collectors.joining("\t")));
        }
        out.flush();
    }
}
