import type { ServerView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import {
  filterServers,
  parseServerFilter,
  sortServers,
  type ListedServer,
  type ServerFilter,
} from './filterServers.ts';
import type { Origin, StateKind } from './serverState.ts';

const view: ServerView = {
  type: 'sse',
  chatMenu: true,
  requiresOAuth: false,
  serverInstructions: false,
  source: 'user',
  permissions: 1,
};

function listed(name: string, kind: StateKind, origin: Origin, more: Partial<ServerView> = {}): ListedServer {
  return { name, view: { ...view, ...more }, state: { kind }, origin, tools: 1 };
}

const servers = [
  listed('mail', 'connected', 'configuration', { title: 'Post', description: 'Reads letters' }),
  listed('notes', 'unreachable', 'yours'),
  listed('crm', 'needs_values', 'shared', { title: 'Customers' }),
  listed('docs', 'idle', 'override'),
  listed('eves', 'not_shared', 'managed'),
];

const names = (show: ServerFilter, search = '') =>
  filterServers(sortServers(servers), show, search).map(({ name }) => name);

describe('the list of servers', () => {
  test('in the order of what people read, by where they come from and need', () => {
    expect(names('all')).toEqual(['crm', 'docs', 'eves', 'notes', 'mail']);
    expect(names('attention')).toEqual(['crm', 'notes']);
    expect(names('yours')).toEqual(['notes']);
    expect(names('shared')).toEqual(['crm', 'eves']);
    expect(names('configuration')).toEqual(['docs', 'mail']);
  });

  test('by name, title and description, in any case', () => {
    expect([names('all', ' LETTERS '), names('all', 'custom'), names('all', 'mail')]).toEqual([
      ['mail'],
      ['crm'],
      ['mail'],
    ]);
    expect(names('yours', 'mail')).toEqual([]);
    expect([parseServerFilter('attention'), parseServerFilter('<b>'), parseServerFilter(null)]).toEqual([
      'attention',
      'all',
      'all',
    ]);
  });
});
