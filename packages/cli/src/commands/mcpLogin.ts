import type { Command } from '../command.ts';
import { login, loginOptions } from './login.ts';
import { serverArgument } from './serverArgument.ts';

export const mcpLogin: Command = {
  path: ['mcp', 'login'],
  summary: 'signs you in at a server, in a browser',
  arguments: [serverArgument],
  options: loginOptions,
  notes: [
    'Prints an address of the gateway and opens it where there is a browser; it also works in a browser on another machine, as',
    'long as you are signed in to the gateway there. Waits until the token has landed and the server has been asked with it. A',
    'sign-in that fails leaves the one before as it was.',
  ],
  run: async (context) => {
    const { ending, text, json } = await login(context, context.given.argument('SERVER'));
    return { ending, text, json };
  },
};
