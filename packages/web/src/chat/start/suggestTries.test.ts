import type { ToolsView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { suggestTries } from './suggestTries.ts';

function server(names: readonly string[], state: 'connected' | 'unreachable' = 'connected') {
  const tools = names.map((name) => ({ name, pluginKey: `${name}_mcp`, description: '' }));
  return { name: '', title: 'Title', icon: '', authenticated: true, authConfig: [], tools, state };
}

const tried = (servers: ToolsView['servers']) => suggestTries(servers).map((one) => [one.server, one.tool]);

describe('things to try', () => {
  test('are made from the sample server, with its arguments', () => {
    const tries = suggestTries({
      everything: server(['echo', 'get-sum', 'get-structured-content', 'get-env']),
    });
    expect(tries.map(({ tool }) => tool)).toEqual(['echo', 'get-sum', 'get-structured-content']);
    expect(tries[0]).toMatchObject({ title: 'Echo hello', args: { message: 'hello' } });
  });

  test('show titles of tools and servers, and IDs where a tool has no title', () => {
    const [first] = suggestTries({ tracker: server(['list_issues']) });
    expect(first).toMatchObject({ title: 'Use list_issues', text: 'Use list_issues from Title' });
    const { tools, ...rest } = server(['list_issues']);
    const titled = { ...rest, tools: tools.map((tool) => ({ ...tool, title: 'List issues' })) };
    expect(suggestTries({ tracker: titled })[0]).toMatchObject({
      ...{ tool: 'list_issues', text: 'Use List issues from Title' },
    });
  });

  test('are only what looks, of servers that answer, and three at most', () => {
    expect(
      tried({
        down: server(['list_files'], 'unreachable'),
        tracker: server(['delete_issue', 'create_issue', 'get_token', 'list_issues']),
        writes: server(['send_mail', 'getaway']),
      }),
    ).toEqual([['tracker', 'list_issues']]);
    const many = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, server(['search'])]));
    expect(suggestTries(many)).toHaveLength(3);
    expect(suggestTries({})).toEqual([]);
  });
});
