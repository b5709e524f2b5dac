import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/**
 * Reads a password from a hidden prompt on a terminal, otherwise from the first line of standard input. Never from
 * an argument, because other users can see arguments.
 */
export async function readPassword(): Promise<string> {
  const isTerminal = process.stdin.isTTY;
  if (isTerminal) process.stderr.write('Password: ');
  const silentOutput = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silentOutput, terminal: isTerminal });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
    if (isTerminal) process.stderr.write('\n');
  }
}
