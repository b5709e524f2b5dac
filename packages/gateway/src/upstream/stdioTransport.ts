import { spawn, type ChildProcess } from 'node:child_process';
import type { Cancel, Clock } from '@behalf/kernel';
import {
  ReadBuffer,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';

export interface StdioCommand {
  command: string;
  args: readonly string[];
  /** The whole environment of the child: nothing of ours is inherited. */
  env: Readonly<Record<string, string>>;
  cwd?: string | undefined;
  /** `pipe`: line by line to `onStderr`. A number is a file descriptor of ours. */
  stderr?: 'pipe' | 'ignore' | 'inherit' | number | undefined;
}

export interface StdioParts {
  clock: Clock;
  /** A line the child wrote to stderr. */
  onStderr: (line: string) => void;
  /** `process.kill`; a negative id names a group. */
  kill: (pid: number, signal: NodeJS.Signals) => void;
}

/** How long a child may take to end by itself after its input closed, and again after SIGTERM. */
const GRACE_MS = 2_000;
/** How long the pipes of a child that has ended are read on. */
const DRAIN_MS = 500;
const LONGEST_LINE = 8_192;

/**
 * A child process as an MCP transport. The SDK's own one hands PATH, HOME, USER and more to every child; this one
 * passes exactly what the definition says, starts the child as a group leader and ends the whole group.
 */
export function createStdioTransport(server: StdioCommand, { clock, onStderr, kill }: StdioParts): Transport {
  const buffer = new ReadBuffer();
  let child: ChildProcess | null = null;
  let ended: Promise<void> = Promise.resolve();

  const signalGroup = (pid: number | undefined, signal: NodeJS.Signals) => {
    if (pid === undefined) return;
    try {
      kill(-pid, signal);
    } catch {
      // The group is gone already.
    }
  };

  const transport: Transport = {
    start: () =>
      new Promise((resolve, reject) => {
        if (child) return reject(new Error('The server process runs already'));
        const started = spawn(server.command, [...server.args], {
          env: { ...server.env },
          stdio: ['pipe', 'pipe', server.stderr ?? 'pipe'],
          detached: true,
          windowsHide: true,
          ...(server.cwd !== undefined && { cwd: server.cwd }),
        });
        child = started;
        ended = new Promise((done) => {
          let stopDraining: Cancel = () => undefined;
          started.once('exit', () => {
            // What the child itself had started ends with it, whether we ended it or it crashed.
            signalGroup(started.pid, 'SIGKILL');
            // Its last words may still be in the pipes; who left the group with an end of one must not hold us up.
            stopDraining = clock.timer(DRAIN_MS, () => {
              started.stdout?.destroy();
              started.stderr?.destroy();
            });
          });
          started.once('close', () => {
            stopDraining();
            child = null;
            done();
            transport.onclose?.();
          });
        });
        started.once('spawn', () => resolve());
        started.once('error', (error) => {
          reject(error);
          transport.onerror?.(error);
        });
        // A child that is gone breaks its pipe; `close` tells of it.
        started.stdin?.on('error', (error) => transport.onerror?.(error));
        started.stdout?.on('data', (chunk: Buffer) => receive(chunk));
        if (started.stderr) forEachLine(started.stderr, onStderr);
      }),
    send: (message) =>
      new Promise((resolve, reject) => {
        if (!child?.stdin?.writable) return reject(new Error('The server process has ended'));
        child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
      }),
    async close() {
      if (!child) return ended;
      const { pid } = child;
      child.stdin?.end();
      const cancel: Cancel[] = [
        clock.timer(GRACE_MS, () => signalGroup(pid, 'SIGTERM')),
        clock.timer(2 * GRACE_MS, () => signalGroup(pid, 'SIGKILL')),
      ];
      await ended;
      for (const stop of cancel) stop();
    },
  };

  function receive(chunk: Buffer): void {
    try {
      buffer.append(chunk);
    } catch (error) {
      transport.onerror?.(error as Error);
      void transport.close();
      return;
    }
    for (;;) {
      let message: JSONRPCMessage | null;
      try {
        message = buffer.readMessage();
      } catch (error) {
        // One line that is not a message: say so and read on.
        transport.onerror?.(error as Error);
        continue;
      }
      if (message === null) return;
      transport.onmessage?.(message);
    }
  }

  return transport;
}

function forEachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let pending = '';
  const tell = (line: string) => {
    if (line.trim()) onLine(line.trimEnd().slice(0, LONGEST_LINE));
  };
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (pending + text).split('\n');
    // A child that never ends its line must not fill our memory.
    pending = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    for (const line of lines) tell(line);
  });
  // Last words often come without a line break.
  stream.on('end', () => tell(pending));
}
