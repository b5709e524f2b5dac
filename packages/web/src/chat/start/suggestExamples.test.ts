import type { ToolsView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { suggestExamples } from './suggestExamples.ts';

function server(names: readonly string[], state: 'connected' | 'unreachable' = 'connected') {
  const tools = names.map((name) => ({ name, pluginKey: `${name}_mcp`, description: '' }));
  return { name: '', title: 'Title', icon: '', authenticated: true, authConfig: [], tools, state };
}

const suggestedTools = (servers: ToolsView['servers']) =>
  suggestExamples(servers).map((example) => [example.server, example.tool]);

describe('things to try', () => {
  test('are made from the sample server, with its arguments', () => {
    const examples = suggestExamples({
      everything: server(['echo', 'get-sum', 'get-structured-content', 'get-env']),
    });
    expect(examples.map(({ tool }) => tool)).toEqual(['echo', 'get-sum', 'get-structured-content']);
    expect(examples[0]).toMatchObject({ title: 'Echo hello', args: { message: 'hello' } });
  });

  test('show titles of tools and servers, and IDs where a tool has no title', () => {
    const [first] = suggestExamples({ tracker: server(['list_issues']) });
    expect(first).toMatchObject({ title: 'Use list_issues', text: 'Use list_issues from Title' });
    const { tools, ...rest } = server(['list_issues']);
    const titled = { ...rest, tools: tools.map((tool) => ({ ...tool, title: 'List issues' })) };
    expect(suggestExamples({ tracker: titled })[0]).toMatchObject({
      ...{ tool: 'list_issues', text: 'Use List issues from Title' },
    });
  });

  test('are only what looks, of servers that answer, and three at most', () => {
    expect(
      suggestedTools({
        down: server(['list_files'], 'unreachable'),
        tracker: server(['delete_issue', 'create_issue', 'get_token', 'list_issues']),
        writes: server(['send_mail', 'getaway']),
      }),
    ).toEqual([['tracker', 'list_issues']]);
    const many = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, server(['search'])]));
    expect(suggestExamples(many)).toHaveLength(3);
    expect(suggestExamples({})).toEqual([]);
  });
});
