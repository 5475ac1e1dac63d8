// Holds a lock with Java's standard library: java Hold.java URL NAME
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A lock that is held until it is closed. */
public final class Hold implements AutoCloseable {
    private static final Pattern TOKEN = Pattern.compile("\"token\":\"(\\d+)\"");
    private static final Pattern VALID = Pattern.compile("\"valid_ms\":(\\d+)");

    private final long sent = System.nanoTime(); // all times count from here
    private final InputStream body;
    private final BufferedReader lines;
    private final String token;
    private volatile long validMs;

    public Hold(String url, String name) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(
                URI.create(url + "/v1/hold/" + name + "?label=Hold.java"))
                .header("Mortise-Http", "1").build();
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        var answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
        body = answer.body();
        lines = new BufferedReader(new InputStreamReader(body));
        var granted = lines.readLine();
        if (answer.statusCode() != 200) throw new IOException("not acquired: " + granted);
        token = found(TOKEN, granted);
        validMs = Long.parseLong(found(VALID, granted));
        var listener = new Thread(this::listen);
        listener.setDaemon(true);
        listener.start();
    }

    /** Give it to every write. */
    public String token() {
        return token;
    }

    public boolean isValid() {
        return (System.nanoTime() - sent) / 1_000_000 < validMs;
    }

    private void listen() {
        try {
            for (var line = lines.readLine(); line != null && line.contains("\"alive\"");
                    line = lines.readLine())
                validMs = Long.parseLong(found(VALID, line));
        } catch (IOException closed) {
            // It ends as it does with a loss.
        }
        validMs = 0;
    }

    private static String found(Pattern pattern, String line) {
        Matcher matcher = pattern.matcher(line);
        if (!matcher.find()) throw new IllegalStateException(line);
        return matcher.group(1);
    }

    /** Releases the lock: the connection ends. */
    @Override
    public void close() throws IOException {
        body.close();
    }

    public static void main(String[] words) throws Exception {
        try (var hold = new Hold(words[0], words[1])) {
            System.out.println("token " + hold.token());
            if (hold.isValid()) System.out.println("work, with the token");
        }
        System.out.println("released");
    }
}
