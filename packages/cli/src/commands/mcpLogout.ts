import { DisconnectView } from '@behalf/contracts';
import type { Command } from '../command.ts';
import { ofServer } from '../gateway/paths.ts';
import { clean } from '../output/clean.ts';
import { serverArgument } from './serverArgument.ts';

export const mcpLogout: Command = {
  path: ['mcp', 'logout'],
  summary: 'ends your sign-in at a server, here and there',
  arguments: [serverArgument],
  options: [{ name: 'label', value: 'LABEL', about: 'Only that one of several credentials.' }],
  notes: [
    'The key needs the scope servers. Says what the authorization server answered. Exit code 1: it ended here, and the',
    'authorization server did not confirm it.',
  ],
  async run({ given, gateway }) {
    const server = given.argument('SERVER');
    const label = given.text('label');
    const view =
      label === undefined
        ? await gateway().ask(ofServer(server, 'oauth/disconnect'), DisconnectView, {
            method: 'POST',
            body: {},
          })
        : await gateway().ask(ofServer(server, `credentials/${encodeURIComponent(label)}`), DisconnectView, {
            method: 'DELETE',
          });
    return {
      ending: view.revoked === 'failed' ? 'failed' : 'ok',
      text: clean(`${sentenceOf(view, server)}\n`),
      json: { serverName: server, ...view },
    };
  },
};

function sentenceOf({ disconnected, revoked }: DisconnectView, server: string): string {
  if (!disconnected) return `You were not signed in at ${server}.`;
  const there = {
    yes: 'The authorization server has ended it too.',
    failed: 'The authorization server did not confirm that it ended: revoke it there if that matters.',
    unsupported: 'The authorization server offers no way to end it: it runs out there by itself.',
    none: 'There was nothing to end at an authorization server.',
  }[revoked];
  return `Your sign-in at ${server} has ended here. ${there}`;
}
