import { existsSync, readFileSync } from 'node:fs';
import { systemClock } from '@behalf/kernel';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import {
  createStdioTransport,
  type StdioParts,
  type StdioTransport,
} from '../src/upstream/channel/stdioTransport.ts';
import type { StdioTarget } from '../src/upstream/target.ts';

/** A transport over `node -e script`, with everything it said written down. */
export interface TestChild {
  transport: StdioTransport;
  messages: JSONRPCMessage[];
  errors: Error[];
  stderr: string[];
  /** How often it said that it is closed. */
  closeCount: () => number;
  /** Every signal that was sent to the group. */
  signals: string[];
}

export function startNodeChild(script: string, overrides: Partial<StdioTarget & StdioParts> = {}): TestChild {
  const messages: JSONRPCMessage[] = [];
  const errors: Error[] = [];
  const stderr: string[] = [];
  const signals: string[] = [];
  let closeCount = 0;
  const transport = createStdioTransport(
    {
      ...{ type: 'stdio', command: process.execPath, args: ['-e', script], env: {} },
      ...{ cwd: undefined, stderr: 'pipe', ...overrides },
    },
    {
      clock: systemClock,
      onStderr: (line) => stderr.push(line),
      kill(pid, signal) {
        signals.push(signal);
        process.kill(pid, signal);
      },
      ...overrides,
    },
  );
  transport.onmessage = (message) => messages.push(message);
  transport.onerror = (error) => errors.push(error);
  transport.onclose = () => (closeCount += 1);
  return { transport, messages, errors, stderr, closeCount: () => closeCount, signals };
}

/** JavaScript for a child that sends a notification with this expression as its parameters. */
export function printScript(expression: string): string {
  return `process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'said', params: ${expression} }) + '\\n');`;
}

/** JavaScript for a child that lives on whatever happens to its input. */
export const keepAliveScript = 'setInterval(() => {}, 1_000);';

/** A process that is dead and only waits to be reaped, which takes some containers forever, counts as dead. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // No /proc here, or the process ended meanwhile.
    return !existsSync('/proc/self');
  }
}
