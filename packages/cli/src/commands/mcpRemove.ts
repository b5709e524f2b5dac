import { CliError } from '../cliError.ts';
import type { Command } from '../command.ts';
import { anySchema } from '../gateway/anySchema.ts';
import { definitionPath } from '../gateway/paths.ts';
import { stripControls } from '../output/stripControls.ts';
import { serverArgument } from './serverArgument.ts';

export const mcpRemove: Command = {
  path: ['mcp', 'remove'],
  summary: 'removes a server of your own, with all its stored data',
  arguments: [serverArgument],
  options: [{ name: 'yes', description: 'Does not ask for confirmation. Required without a terminal.' }],
  notes: ['The key needs the scope servers. The values and sign-ins of all its users are removed too.'],
  async run({ input, gateway, io }) {
    const name = input.argument('SERVER');
    if (!input.flag('yes')) {
      if (!io.isInteractive)
        throw new CliError('usage', 'There is no terminal for the confirmation: add --yes.', {
          code: 'usage',
        });
      const reply = await io.prompt(
        `Remove ${stripControls(name)} with all values and sign-ins of its users? [y/N] `,
      );
      if (!/^y(es)?$/i.test(reply.trim())) {
        return {
          exitStatus: 'failed',
          text: 'Nothing was removed.\n',
          json: { removed: false, serverName: name },
        };
      }
    }
    await gateway().request(definitionPath(name), anySchema, { method: 'DELETE' });
    return {
      exitStatus: 'ok',
      text: stripControls(`Removed ${name}.\n`),
      json: { removed: true, serverName: name },
    };
  },
};
