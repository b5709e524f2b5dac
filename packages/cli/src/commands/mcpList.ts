import { ConnectionStatusesView, ServersView, type ServerStatus } from '@behalf/contracts';
import type { Command } from '../command.ts';
import { table } from '../output/table.ts';

export const mcpList: Command = {
  path: ['mcp', 'list'],
  summary: 'your servers, and how they stand',
  arguments: [],
  options: [],
  notes: ['Nothing is opened for it: a server that was never called is "disconnected".'],
  async run({ gateway, style }) {
    const [servers, { connectionStatus }] = await Promise.all([
      gateway().ask('/api/mcp/servers', ServersView),
      gateway().ask('/api/mcp/connection/status', ConnectionStatusesView),
    ]);
    const listed = Object.entries(servers).map(([name, { title, type, source }]) => ({
      name,
      ...(title !== undefined && { title }),
      ...{ type, source },
      status: connectionStatus[name] ?? null,
    }));
    const rows = listed.map(({ name, status, type, source, title = '' }) => [
      name,
      status?.connectionState ?? 'not yours to use',
      status ? signInOf(status) : '',
      type,
      source,
      title,
    ]);
    const text =
      rows.length === 0
        ? 'There are no servers for you.\n'
        : table(['NAME', 'CONNECTION', 'SIGN-IN', 'TYPE', 'SOURCE', 'TITLE'], rows, style);
    return { ending: 'ok', text, json: { servers: listed } };
  },
};

/** What a user has to do before it works. */
function signInOf({ authorizationState, configurationState }: ServerStatus): string {
  if (configurationState === 'needs_configuration') return 'values missing';
  switch (authorizationState) {
    case 'needs_authorization':
      return 'needed';
    case 'authorizing':
      return 'under way';
    case 'authorized':
      return 'done';
    case 'error':
      return 'not known';
    case 'not_required':
      return '-';
  }
}
