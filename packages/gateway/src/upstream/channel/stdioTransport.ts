import { type ChildProcess, spawn } from 'node:child_process';
import type { Cancel, Clock } from '@behalf/kernel';
import { parseRpcMessage } from '../messages.ts';
import { createLineRateLimiter } from '../serverLog.ts';
import { UpstreamError } from '../upstreamError.ts';
import { createLineReader, parseOversizedMessage } from './lineReader.ts';
import type { Channel } from './openChannelUpstream.ts';

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
  readonly acquirePermit?: () => () => void;
}

export interface StdioTransport extends Channel {
  /** Ends a child that nobody got to use: SIGTERM at once, SIGKILL half a second later. */
  terminate(): Promise<void>;
}

/** How long a child may take to end by itself after its input closed, and again after SIGTERM. */
const EXIT_GRACE_MS = 2_000;
/** The same for one that nobody got to use. */
const TERMINATE_GRACE_MS = 500;
/** How long the pipes of a child that has ended are read on. */
const DRAIN_MS = 500;
const MAX_LINE_LENGTH = 8_192;
/** As large as the body of an answer over HTTP may be. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * A child process as an MCP transport. The SDK's own one hands PATH, HOME, USER and more to every child; this one
 * passes exactly what the definition says, starts the child as a group leader and ends the whole group.
 */
export function createStdioTransport(server: StdioCommand, parts: StdioParts): StdioTransport {
  const { clock, kill } = parts;
  let child: ChildProcess | null = null;
  let exited: Promise<void> = Promise.resolve();
  let isDiscarding = false;
  const reader = createLineReader({ maxBytes: MAX_MESSAGE_BYTES, onLine: receive, onLongLine: skipLongLine });

  const signalGroup = (pid: number | undefined, signal: NodeJS.Signals) => {
    if (pid === undefined) return;
    try {
      kill(-pid, signal);
    } catch {
      // The group is gone already.
    }
  };

  /** Closes the child's input, and sends what it does not want to hear. */
  async function shutDown(
    ...steps: readonly (readonly [ms: number, signal: NodeJS.Signals])[]
  ): Promise<void> {
    if (!child) return exited;
    const { pid } = child;
    child.stdin?.end();
    const cancelTimers = steps.map(([ms, signal]) => clock.timer(ms, () => signalGroup(pid, signal)));
    await exited;
    for (const cancelTimer of cancelTimers) cancelTimer();
  }

  const transport: StdioTransport = {
    async start() {
      if (child) throw new Error('The server process is already running');
      let releasePermit: () => void = () => undefined;
      let spawned: ChildProcess;
      try {
        releasePermit = parts.acquirePermit?.() ?? releasePermit;
        spawned = spawn(server.command, [...server.args], {
          env: { ...server.env },
          stdio: ['pipe', 'pipe', server.stderr ?? 'pipe'],
          detached: true,
          windowsHide: true,
          ...(server.cwd !== undefined && { cwd: server.cwd }),
        });
      } catch (error) {
        releasePermit();
        throw error;
      }
      child = spawned;
      exited = new Promise((done) => {
        let stopDraining: Cancel = () => undefined;
        spawned.once('exit', () => {
          releasePermit();
          // What the child itself had started ends with it, whether we ended it or it crashed.
          signalGroup(spawned.pid, 'SIGKILL');
          // Its last words may still be in the pipes; who left the group with an end of one must not hold us up.
          stopDraining = clock.timer(DRAIN_MS, () => {
            spawned.stdout?.destroy();
            spawned.stderr?.destroy();
          });
        });
        spawned.once('close', () => {
          stopDraining();
          child = null;
          done();
          transport.onclose?.();
        });
      });
      // A child that is gone breaks its pipe; `close` tells of it.
      spawned.stdin?.on('error', (error) => transport.onerror?.(error));
      spawned.stdout?.on('data', (chunk: Buffer) => readChunk(chunk));
      if (spawned.stderr) forwardStderrLines(spawned.stderr, parts);
      await new Promise<void>((resolve, reject) => {
        spawned.once('spawn', () => resolve());
        spawned.once('error', (error) => {
          if (spawned.pid === undefined) releasePermit();
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
    close: () => shutDown([EXIT_GRACE_MS, 'SIGTERM'], [2 * EXIT_GRACE_MS, 'SIGKILL']),
    terminate() {
      signalGroup(child?.pid, 'SIGTERM');
      return shutDown([TERMINATE_GRACE_MS, 'SIGKILL']);
    },
  };

  function readChunk(chunk: Buffer): void {
    if (isDiscarding) return;
    try {
      reader.push(chunk);
    } catch (cause) {
      failChannel(new UpstreamError('too_large', { cause }));
    }
  }

  /** Nothing it says from here on can be trusted to be a line. */
  function failChannel(error: UpstreamError): void {
    isDiscarding = true;
    transport.onerror?.(error);
    void transport.close();
  }

  /** A message that nobody can hold fails the request it answers; the others on this channel go on. */
  function skipLongLine(head: string, tail?: string): void {
    const message = parseOversizedMessage(head, tail);
    const tooLarge = new UpstreamError('too_large');
    if (message.kind === 'response' && message.id !== undefined)
      transport.onrequesterror?.(message.id, tooLarge);
    // Its id may stand at its end.
    else if (message.kind === 'unknown' || (message.kind === 'response' && tail !== undefined))
      failChannel(tooLarge);
  }

  function receive(line: string): void {
    try {
      transport.onmessage?.(parseRpcMessage(line));
    } catch (error) {
      // One line that is not a message: say so and read on.
      transport.onerror?.(error as Error);
    }
  }

  return transport;
}

function forwardStderrLines(stream: NodeJS.ReadableStream, { clock, onStderr }: StdioParts): void {
  const rateLimiter = createLineRateLimiter(clock, (count) => onStderr(`(${count} lines dropped)`));
  let pending = '';
  const emitLine = (line: string) => {
    if (line.trim() && rateLimiter.tryAcquire()) onStderr(line.trimEnd().slice(0, MAX_LINE_LENGTH));
  };
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (pending + text).split('\n');
    // A child that never ends its line must not fill our memory.
    pending = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH);
    for (const line of lines) emitLine(line);
  });
  // Last words often come without a line break.
  stream.on('end', () => {
    emitLine(pending);
    rateLimiter.close();
  });
}

/** Of one user; or of one server that everybody shares: one in use, one that is waited out, and some that are ending. */
const MAX_CHILDREN_PER_OWNER = 4;
const MAX_CHILDREN_TOTAL = 64;

export interface StdioLimits {
  /**
   * Takes a place for one child of this user; without a user, for one of this server that everybody shares. Throws
   * `too_many` when there is none. Returns how to give it back, once.
   */
  acquire(owner: string | undefined, server: string): () => void;
}

/**
 * How many child processes may run at a time: a user who opens many servers must not take the memory of all others, nor
 * one who has a shared server replaced over and over. A place is held from the start of a process to its exit, so one
 * that does not want to end still counts.
 */
export function createStdioLimits({
  maxPerOwner = MAX_CHILDREN_PER_OWNER,
  maxTotal = MAX_CHILDREN_TOTAL,
}: {
  readonly maxPerOwner?: number;
  readonly maxTotal?: number;
} = {}): StdioLimits {
  let runningCount = 0;
  const byOwner = new Map<string, number>();

  return {
    acquire(owner, server) {
      const key = owner === undefined ? `server ${server}` : `user ${owner}`;
      const ownerCount = byOwner.get(key) ?? 0;
      if (runningCount >= maxTotal || ownerCount >= maxPerOwner) throw new UpstreamError('too_many');
      runningCount += 1;
      byOwner.set(key, ownerCount + 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        runningCount -= 1;
        const remaining = (byOwner.get(key) ?? 1) - 1;
        if (remaining > 0) byOwner.set(key, remaining);
        else byOwner.delete(key);
      };
    },
  };
}
