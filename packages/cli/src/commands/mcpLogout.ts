import { DisconnectView } from '@behalf/contracts';
import type { Command } from '../command.ts';
import { serverPath } from '../gateway/paths.ts';
import { stripControls } from '../output/stripControls.ts';
import { serverArgument } from './serverArgument.ts';

export const mcpLogout: Command = {
  path: ['mcp', 'logout'],
  summary: 'ends your sign-in at a server and revokes its tokens',
  arguments: [serverArgument],
  options: [{ name: 'label', value: 'LABEL', description: 'Only the credential with this label.' }],
  notes: [
    'The key needs the scope servers. Prints the result of the revocation. Exit code 1: the sign-in ended here, but the',
    'authorization server did not confirm the revocation.',
  ],
  async run({ input, gateway }) {
    const server = input.argument('SERVER');
    const label = input.text('label');
    const view =
      label === undefined
        ? await gateway().request(serverPath(server, 'oauth/disconnect'), DisconnectView, {
            method: 'POST',
            body: {},
          })
        : await gateway().request(
            serverPath(server, `credentials/${encodeURIComponent(label)}`),
            DisconnectView,
            {
              method: 'DELETE',
            },
          );
    return {
      exitStatus: view.revoked === 'failed' ? 'failed' : 'ok',
      text: stripControls(`${formatResult(view, server)}\n`),
      json: { serverName: server, ...view },
    };
  },
};

function formatResult({ disconnected, revoked }: DisconnectView, server: string): string {
  if (!disconnected) return `You were not signed in at ${server}.`;
  const remoteText = {
    yes: 'The authorization server revoked the token.',
    failed: 'The authorization server did not confirm the revocation: revoke the token there if necessary.',
    unsupported:
      'The authorization server does not support revocation: the token stays valid until it expires.',
    none: 'There was nothing to revoke at an authorization server.',
  }[revoked];
  return `Your sign-in at ${server} has ended here. ${remoteText}`;
}
