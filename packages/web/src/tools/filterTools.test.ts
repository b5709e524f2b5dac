import type { ToolsView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { countTools, filterTools, distributeShown, type ListedServer } from './filterTools.ts';

const server = (
  name: string,
  tools: Record<string, string>,
  more: Partial<ListedServer> = {},
): ListedServer => ({
  ...{ name, title: name, icon: '', authenticated: true, authConfig: [], state: 'connected' },
  tools: Object.entries(tools).map(([tool, description]) => ({ name: tool, pluginKey: tool, description })),
  ...more,
});

const servers: ToolsView['servers'] = {
  mail: server('mail', { send: 'Sends a letter', list: 'Lists letters' }),
  files: server('files', { list: 'Lists files' }),
  crm: server('crm', {}, { state: 'needs_configuration' }),
};

const found = (search: string) =>
  filterTools(servers, search).map((group) => [group.server.name, group.tools.map(({ name }) => name)]);

describe('the list of tools', () => {
  test('is whole without a search', () => {
    expect(found(' ')).toEqual([
      ['mail', ['send', 'list']],
      ['files', ['list']],
      ['crm', []],
    ]);
    expect(countTools(filterTools(servers, ''))).toBe(3);
  });

  test('finds words in names and descriptions, in any order and case', () => {
    expect(found('LIST')).toEqual([
      ['mail', ['list']],
      ['files', ['list']],
    ]);
    expect(found('letter sends')).toEqual([['mail', ['send']]]);
    expect(found('files list')).toEqual([['files', ['list']]]);
    expect(found('nothing')).toEqual([]);
  });

  test('finds a server by its name, also one without tools', () => {
    expect(found('mail')).toEqual([['mail', ['send', 'list']]]);
    expect(found('crm')).toEqual([['crm', []]]);
  });

  test('a search matches the titles of servers and tools', () => {
    const titled: ToolsView['servers'] = {
      s1: {
        ...server('s1', {}, { title: 'Front desk' }),
        tools: [{ name: 'wipe', title: 'Empty a room', pluginKey: 'wipe', description: '' }],
      },
    };
    expect(filterTools(titled, 'room desk').map(({ tools }) => tools.length)).toEqual([1]);
    expect(filterTools(titled, 'front').map(({ tools }) => tools.length)).toEqual([1]);
    expect(filterTools(titled, 'kitchen')).toEqual([]);
  });

  test('grows from its beginning', () => {
    const groups = filterTools(servers, '');
    expect([0, 1, 3, 9].map((shown) => distributeShown(groups, shown))).toEqual([
      [0, 0, 0],
      [1, 0, 0],
      [2, 1, 0],
      [2, 1, 0],
    ]);
  });
});
