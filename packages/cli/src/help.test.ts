import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { commands } from './commands/commands.ts';
import { exitCodes } from './cliError.ts';
import { formatCommandHelp } from './help.ts';

const page = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8');

describe('the page about the command', () => {
  test('says of every command what its help says, and of no other', () => {
    const sections = [...page.matchAll(/^### `behalf ([^`]+)`$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual(commands.map(({ path }) => path.join(' ')).sort());
    for (const command of commands) {
      const block = `### \`behalf ${command.path.join(' ')}\`\n\n\`\`\`text\n${formatCommandHelp(command)}\`\`\`\n`;
      expect(page).toContain(block);
    }
  });

  test('lists every exit code', () => {
    const rows = [...page.matchAll(/^\| (\d+) +\| (.+?) +\|$/gm)].map(([, code, meaning]) => [
      Number(code),
      meaning,
    ]);
    expect(rows).toEqual(Object.values(exitCodes).map((row) => [...row]));
  });
});
