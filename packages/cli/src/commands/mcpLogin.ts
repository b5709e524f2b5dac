import type { Command } from '../command.ts';
import { signIn, loginOptions } from './login.ts';
import { serverArgument } from './serverArgument.ts';

export const mcpLogin: Command = {
  path: ['mcp', 'login'],
  summary: 'signs you in at a server, in a browser',
  arguments: [serverArgument],
  options: loginOptions,
  notes: [
    'Prints a URL of the gateway and opens it in a browser, if there is one. The URL also works in a browser on another machine',
    'where you are signed in to the gateway. Waits until the token is stored and the server was called with it. A failed',
    'sign-in leaves the previous credential unchanged.',
  ],
  run: async (context) => {
    const { exitStatus, text, json } = await signIn(context, context.input.argument('SERVER'));
    return { exitStatus, text, json };
  },
};
