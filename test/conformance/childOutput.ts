import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The first line that a child prints and that is wanted. Throws when it ends without one. */
export async function readFirstLine(
  { stdout }: ChildProcess,
  matches: (line: string) => boolean = () => true,
): Promise<string> {
  if (!stdout) throw new Error('Nobody listens to what it prints');
  const lines = createInterface({ input: stdout });
  const foundLine = await new Promise<string>((resolve, reject) => {
    const outputLines: string[] = [];
    lines.on('line', (line) => {
      outputLines.push(line);
      if (matches(line)) resolve(line);
    });
    lines.once('close', () => reject(new Error(`It ended early: ${outputLines.join('\n')}`)));
  });
  // Whatever it prints later is read and forgotten: a full pipe would stop it.
  lines.removeAllListeners('close');
  return foundLine;
}
