<?php
declare(strict_types=1);

/** A headless Chromium with one page. The DevTools protocol drives it over two pipes, and it ends when they close. */
final class Browser
{
    /** @var list<string> errors and warnings in the page's console */
    public array $complaints = [];

    /** @var list<string> addresses that the page requested */
    public array $requests = [];

    /** @var resource */
    private $process;
    /** @var array<int, resource> */
    private array $pipes = [];
    private string $received = '';
    private int $lastId = 0;
    private ?string $session = null;
    private bool $loaded = false;

    public function __construct(string $directory)
    {
        $command = [
            'chromium-headless-shell', '--remote-debugging-pipe', "--user-data-dir=$directory/profile", '--hide-scrollbars',
            '--force-color-profile=srgb', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
            ...(posix_geteuid() === 0 ? ['--no-sandbox'] : []),
            'about:blank',
        ];
        $log = ['file', "$directory/browser.log", 'w'];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], $log, $log, ['pipe', 'r'], ['pipe', 'w']], $this->pipes)
            ?: throw new RuntimeException('no browser');
        $target = $this->call('Target.createTarget', ['url' => 'about:blank'])['targetId'];
        $this->session = $this->call('Target.attachToTarget', ['targetId' => $target, 'flatten' => true])['sessionId'];
        foreach (['Page', 'Runtime', 'Log', 'Network', 'Accessibility'] as $domain) {
            $this->call("$domain.enable");
        }
    }

    public function close(): void
    {
        $this->session = null;
        $this->call('Browser.close');
        array_map(fclose(...), $this->pipes);
        proc_close($this->process);
    }

    /** @param 'light'|'dark' $scheme */
    public function appearance(int $width, int $height, string $scheme): void
    {
        $this->call('Emulation.setDeviceMetricsOverride',
            ['width' => $width, 'height' => $height, 'deviceScaleFactor' => 1, 'mobile' => $width < 600]);
        $this->call('Emulation.setEmulatedMedia', ['features' => [['name' => 'prefers-color-scheme', 'value' => $scheme]]]);
    }

    public function open(string $url): void
    {
        $this->load('Page.navigate', ['url' => $url]);
    }

    public function reload(): void
    {
        $this->load('Page.reload');
    }

    /** Returns the value of an expression, or the value to which its promise resolves. */
    public function evaluate(string $expression, float $timeout = 30): mixed
    {
        $answer = $this->call('Runtime.evaluate', ['expression' => $expression, 'awaitPromise' => true, 'returnByValue' => true], $timeout);
        if (isset($answer['exceptionDetails'])) {
            throw new RuntimeException("$expression: " . json_encode($answer['exceptionDetails']));
        }
        return $answer['result']['value'] ?? null;
    }

    /** Waits until an expression is true. The page evaluates it again each time that the browser paints. */
    public function waitFor(string $expression, float $timeout = 30): void
    {
        $this->evaluate("new Promise(resolve => {
            const look = () => ($expression) ? resolve() : requestAnimationFrame(look);
            look();
        })", $timeout);
    }

    /** Clicks as a mouse does, in the middle of the first element that the selector finds. */
    public function click(string $selector): void
    {
        [$x, $y] = $this->evaluate('(() => {
            const element = document.querySelector(' . json_encode($selector) . ');
            element.scrollIntoView({block: "nearest", behavior: "instant"});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        })()');
        foreach (['mousePressed', 'mouseReleased'] as $type) {
            $this->call('Input.dispatchMouseEvent', ['type' => $type, 'x' => $x, 'y' => $y, 'button' => 'left', 'clickCount' => 1]);
        }
    }

    /** @return list<array{role: string, name: string}> what assistive technology reads, of elements with these roles */
    public function accessible(string ...$roles): array
    {
        $found = [];
        foreach ($this->call('Accessibility.getFullAXTree')['nodes'] as $node) {
            $role = $node['role']['value'] ?? '';
            if (in_array($role, $roles, true) && !($node['ignored'] ?? false)) {
                $found[] = ['role' => $role, 'name' => $node['name']['value'] ?? ''];
            }
        }
        return $found;
    }

    public function screenshot(string $file, bool $whole = false): void
    {
        $answer = $this->call('Page.captureScreenshot', ['format' => 'png', 'captureBeyondViewport' => $whole] + ($whole ? ['clip' => [
            'x' => 0, 'y' => 0, 'scale' => 1,
            'width' => $this->evaluate('innerWidth'), 'height' => $this->evaluate('document.documentElement.scrollHeight'),
        ]] : []));
        file_put_contents($file, base64_decode($answer['data']));
    }

    private function load(string $method, array $parameters = []): void
    {
        $this->loaded = false;
        $this->call($method, $parameters);
        for ($deadline = hrtime(true) + (int) 30e9; !$this->loaded;) {
            $this->note($this->receive($deadline, $method));
        }
    }

    private function call(string $method, array $parameters = [], float $timeout = 30): array
    {
        $message = ['id' => ++$this->lastId, 'method' => $method, 'params' => (object) $parameters];
        if ($this->session !== null) {
            $message['sessionId'] = $this->session;
        }
        fwrite($this->pipes[3], json_encode($message) . "\0");
        $deadline = hrtime(true) + (int) ($timeout * 1e9);
        while (true) {
            $answer = $this->receive($deadline, $method);
            if (($answer['id'] ?? null) === $this->lastId) {
                return $answer['result'] ?? throw new RuntimeException("$method: " . json_encode($answer['error']));
            }
            $this->note($answer);
        }
    }

    private function receive(int $deadline, string $method): array
    {
        while (($end = strpos($this->received, "\0")) === false) {
            $read = [$this->pipes[4]];
            $none = null;
            $left = max(0, $deadline - hrtime(true));
            stream_select($read, $none, $none, intdiv($left, 1_000_000_000), intdiv($left % 1_000_000_000, 1000))
                ?: throw new RuntimeException("$method: the browser did not answer in time");
            $bytes = fread($this->pipes[4], 1 << 20);
            $bytes !== '' && $bytes !== false || throw new RuntimeException("$method: the browser has ended");
            $this->received .= $bytes;
        }
        $message = substr($this->received, 0, $end);
        $this->received = substr($this->received, $end + 1);
        return json_decode($message, true, flags: JSON_THROW_ON_ERROR);
    }

    private function note(array $event): void
    {
        $what = $event['params'] ?? [];
        match ($event['method'] ?? '') {
            'Page.loadEventFired' => $this->loaded = true,
            'Network.requestWillBeSent' => $this->requests[] = $what['request']['url'],
            'Runtime.exceptionThrown' => $this->complaints[] = json_encode($what['exceptionDetails']),
            'Runtime.consoleAPICalled' => in_array($what['type'], ['error', 'warning', 'assert'], true)
                && $this->complaints[] = json_encode($what['args']),
            'Log.entryAdded' => in_array($what['entry']['level'], ['error', 'warning'], true) && $this->complaints[] = json_encode($what['entry']),
            default => null,
        };
    }
}
