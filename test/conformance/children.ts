import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The first line that a child prints and that is wanted. Throws when it ends without one. */
export async function firstLine(
  { stdout }: ChildProcess,
  isWanted: (line: string) => boolean = () => true,
): Promise<string> {
  if (!stdout) throw new Error('Nobody listens to what it prints');
  const lines = createInterface({ input: stdout });
  const found = await new Promise<string>((done, fail) => {
    const said: string[] = [];
    lines.on('line', (line) => {
      said.push(line);
      if (isWanted(line)) done(line);
    });
    lines.once('close', () => fail(new Error(`It ended early: ${said.join('\n')}`)));
  });
  // Whatever it prints later is read and forgotten: a full pipe would stop it.
  lines.removeAllListeners('close');
  return found;
}
