import { CliError } from '../cliError.ts';
import type { Command } from '../command.ts';
import { anything } from '../gateway/anything.ts';
import { definition } from '../gateway/paths.ts';
import { clean } from '../output/clean.ts';
import { serverArgument } from './serverArgument.ts';

export const mcpRemove: Command = {
  path: ['mcp', 'remove'],
  summary: 'removes a server of your own, with everything that was stored for it',
  arguments: [serverArgument],
  options: [{ name: 'yes', about: 'Does not ask first. Needed where nobody can be asked.' }],
  notes: ['The key needs the scope servers. The values and sign-ins of all its users go with it.'],
  async run({ given, gateway, io }) {
    const name = given.argument('SERVER');
    if (!given.flag('yes')) {
      if (!io.isInteractive)
        throw new CliError('usage', 'Nobody can be asked here: add --yes.', { code: 'usage' });
      const answer = await io.ask(`Remove ${clean(name)} with all values and sign-ins of its users? [y/N] `);
      if (!/^y(es)?$/i.test(answer.trim())) {
        return {
          ending: 'failed',
          text: 'Nothing was removed.\n',
          json: { removed: false, serverName: name },
        };
      }
    }
    await gateway().ask(definition(name), anything, { method: 'DELETE' });
    return { ending: 'ok', text: clean(`Removed ${name}.\n`), json: { removed: true, serverName: name } };
  },
};
