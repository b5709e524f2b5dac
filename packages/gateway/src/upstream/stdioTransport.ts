import { spawn, type ChildProcess } from 'node:child_process';
import type { Cancel, Clock } from '@behalf/kernel';
import type { Channel } from './channel/channel.ts';
import { createLineBudget } from './channel/lineBudget.ts';
import { createLineReader } from './channel/lineReader.ts';
import { readLongMessage } from './channel/longMessage.ts';
import { readMessage } from './channel/message.ts';
import { UpstreamError } from './upstreamError.ts';

export interface StdioCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child: nothing of ours is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** `pipe`: line by line to `onStderr`. A number is a file descriptor of ours. */
  readonly stderr?: 'pipe' | 'ignore' | 'inherit' | number | undefined;
}

export interface StdioParts {
  readonly clock: Clock;
  /** A line the child wrote to stderr. */
  readonly onStderr: (line: string) => void;
  /** `process.kill`; a negative id names a group. */
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
  /** Asked before a process starts; throws when there is no place for it. What it returns runs when it is gone. */
  readonly admit?: () => () => void;
}

export interface StdioTransport extends Channel {
  /** Ends a child that nobody got to use: SIGTERM at once, SIGKILL half a second later. */
  abandon(): Promise<void>;
}

/** How long a child may take to end by itself after its input closed, and again after SIGTERM. */
const GRACE_MS = 2_000;
/** The same for one that nobody got to use. */
const SHORT_GRACE_MS = 500;
/** How long the pipes of a child that has ended are read on. */
const DRAIN_MS = 500;
const LONGEST_LINE = 8_192;
/** As large as the body of an answer over HTTP may be. */
const LARGEST_MESSAGE = 16 * 1024 * 1024;

/**
 * A child process as an MCP transport. The SDK's own one hands PATH, HOME, USER and more to every child; this one
 * passes exactly what the definition says, starts the child as a group leader and ends the whole group.
 */
export function createStdioTransport(server: StdioCommand, parts: StdioParts): StdioTransport {
  const { clock, kill } = parts;
  let child: ChildProcess | null = null;
  let ended: Promise<void> = Promise.resolve();
  let deaf = false;
  const reader = createLineReader({ maxBytes: LARGEST_MESSAGE, onLine: receive, onLongLine: skip });

  const signalGroup = (pid: number | undefined, signal: NodeJS.Signals) => {
    if (pid === undefined) return;
    try {
      kill(-pid, signal);
    } catch {
      // The group is gone already.
    }
  };

  /** Closes the child's input, and sends what it does not want to hear. */
  async function end(...steps: readonly (readonly [ms: number, signal: NodeJS.Signals])[]): Promise<void> {
    if (!child) return ended;
    const { pid } = child;
    child.stdin?.end();
    const cancel = steps.map(([ms, signal]) => clock.timer(ms, () => signalGroup(pid, signal)));
    await ended;
    for (const stop of cancel) stop();
  }

  const transport: StdioTransport = {
    async start() {
      if (child) throw new Error('The server process runs already');
      let leave: () => void = () => undefined;
      let started: ChildProcess;
      try {
        leave = parts.admit?.() ?? leave;
        started = spawn(server.command, [...server.args], {
          env: { ...server.env },
          stdio: ['pipe', 'pipe', server.stderr ?? 'pipe'],
          detached: true,
          windowsHide: true,
          ...(server.cwd !== undefined && { cwd: server.cwd }),
        });
      } catch (error) {
        leave();
        throw error;
      }
      child = started;
      ended = new Promise((done) => {
        let stopDraining: Cancel = () => undefined;
        started.once('exit', () => {
          leave();
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
      // A child that is gone breaks its pipe; `close` tells of it.
      started.stdin?.on('error', (error) => transport.onerror?.(error));
      started.stdout?.on('data', (chunk: Buffer) => take(chunk));
      if (started.stderr) passOnLines(started.stderr, parts);
      await new Promise<void>((resolve, reject) => {
        started.once('spawn', () => resolve());
        started.once('error', (error) => {
          if (started.pid === undefined) leave();
          reject(error);
          transport.onerror?.(error);
        });
      });
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        if (!child?.stdin?.writable) return reject(new UpstreamError('ended'));
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => end([GRACE_MS, 'SIGTERM'], [2 * GRACE_MS, 'SIGKILL']),
    abandon() {
      signalGroup(child?.pid, 'SIGTERM');
      return end([SHORT_GRACE_MS, 'SIGKILL']);
    },
  };

  function take(chunk: Buffer): void {
    if (deaf) return;
    try {
      reader.push(chunk);
    } catch (cause) {
      giveUp(new UpstreamError('too_large', { cause }));
    }
  }

  /** Nothing it says from here on can be trusted to be a line. */
  function giveUp(why: UpstreamError): void {
    deaf = true;
    transport.onerror?.(why);
    void transport.close();
  }

  /** A message that nobody can hold fails the request it answers; the others on this channel go on. */
  function skip(head: string, tail?: string): void {
    const message = readLongMessage(head, tail);
    const tooLarge = new UpstreamError('too_large');
    if (message.kind === 'answer' && message.id !== undefined) transport.onfailure?.(message.id, tooLarge);
    // Its id may stand at its end.
    else if (message.kind === 'unknown' || (message.kind === 'answer' && tail !== undefined))
      giveUp(tooLarge);
  }

  function receive(line: string): void {
    try {
      transport.onmessage?.(readMessage(line));
    } catch (error) {
      // One line that is not a message: say so and read on.
      transport.onerror?.(error as Error);
    }
  }

  return transport;
}

function passOnLines(stream: NodeJS.ReadableStream, { clock, onStderr }: StdioParts): void {
  const budget = createLineBudget(clock, (count) => onStderr(`(${count} lines were left out)`));
  let pending = '';
  const tell = (line: string) => {
    if (line.trim() && budget.spend()) onStderr(line.trimEnd().slice(0, LONGEST_LINE));
  };
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (pending + text).split('\n');
    // A child that never ends its line must not fill our memory.
    pending = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    for (const line of lines) tell(line);
  });
  // Last words often come without a line break.
  stream.on('end', () => {
    tell(pending);
    budget.end();
  });
}
