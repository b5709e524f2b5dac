import { type ChildProcess, spawn } from 'node:child_process';
import type { Cancel, Clock } from '@behalf/kernel';
import { parseRpcMessage } from '../messages.ts';
import { createLineRateLimiter } from '../serverLog.ts';
import type { StdioTarget } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import { createLineReader, parseOversizedMessage } from './lineReader.ts';
import type { Channel } from './openChannelUpstream.ts';

export interface StdioParts {
  readonly clock: Clock;
  readonly onStderr: (line: string) => void;
  /** `process.kill`. A negative pid addresses a process group. */
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
  /** Called before start. Throws if a limit is reached. Returns a function that is called after the process exited. */
  readonly acquirePermit?: () => () => void;
}

export interface StdioTransport extends Channel {
  /** Ends a child that was never used: SIGTERM at once, SIGKILL half a second later. */
  terminate(): Promise<void>;
}

/** Time to exit after stdin was closed, and again after SIGTERM. */
const EXIT_GRACE_MS = 2_000;
/** Time to exit for a child that was never used. */
const TERMINATE_GRACE_MS = 500;
/** How long the pipes are read after the child exited. */
const DRAIN_MS = 500;
const MAX_LINE_LENGTH = 8_192;
/** Equals the limit for an HTTP response body. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * A child process as an MCP transport. The transport of the SDK passes PATH, HOME, USER and more to every child. This
 * one passes exactly the environment of the definition, starts the child as a process group leader and ends the group.
 */
export function createStdioTransport(target: StdioTarget, parts: StdioParts): StdioTransport {
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
      // The process group no longer exists.
    }
  };

  /** Closes stdin, then sends each signal after its delay until the child exits. */
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
        spawned = spawn(target.command, [...target.args], {
          env: { ...target.env },
          stdio: ['pipe', 'pipe', target.stderr],
          detached: true,
          windowsHide: true,
          ...(target.cwd !== undefined && { cwd: target.cwd }),
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
          // End the processes that the child started.
          signalGroup(spawned.pid, 'SIGKILL');
          // The pipes may still contain data. A process outside the group can keep them open, so the time is limited.
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
      // EPIPE after an exit. `close` reports the exit.
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

  /** The rest of the output cannot be split into lines reliably. */
  function failChannel(error: UpstreamError): void {
    isDiscarding = true;
    transport.onerror?.(error);
    void transport.close();
  }

  /** An oversized response fails its request. Other requests on the channel continue. */
  function skipLongLine(head: string, tail?: string): void {
    const message = parseOversizedMessage(head, tail);
    const tooLarge = new UpstreamError('too_large');
    if (message.kind === 'response' && message.id !== undefined)
      transport.onrequesterror?.(message.id, tooLarge);
    // Without a tail the id may still follow at the end of the message.
    else if (message.kind === 'unknown' || (message.kind === 'response' && tail !== undefined))
      failChannel(tooLarge);
  }

  function receive(line: string): void {
    try {
      transport.onmessage?.(parseRpcMessage(line));
    } catch (error) {
      // An invalid line does not close the channel.
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
    // Limits the memory for a line without an end.
    pending = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH);
    for (const line of lines) emitLine(line);
  });
  // The last line often has no line break.
  stream.on('end', () => {
    emitLine(pending);
    rateLimiter.close();
  });
}

/** Per user, or per shared server: one in use, one being replaced, and some that are exiting. */
const MAX_CHILDREN_PER_OWNER = 4;
const MAX_CHILDREN_TOTAL = 64;

export interface StdioLimits {
  /**
   * Acquires a permit for one child of this user, or of this shared server if `owner` is undefined. Throws `too_many`
   * if a limit is reached. Returns a function that releases the permit, which is idempotent.
   */
  acquire(owner: string | undefined, server: string): () => void;
}

/**
 * Limits child processes, so that a user who opens many servers or replaces a shared server repeatedly cannot exhaust
 * memory. A permit is held from start to exit, so that processes that do not exit still count.
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
