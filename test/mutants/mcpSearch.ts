import type { Mutant } from '../mutants.ts';

const endpoint = 'api/src/mcp/doorEndpoint.ts';
const tools = 'api/src/mcp/methods/tools.ts';
const searching = 'api/src/mcp/methods/searching.ts';
const text = 'packages/gateway/src/catalog/search/toolText.ts';
const search = 'packages/gateway/src/catalog/search/toolSearch.ts';
const kept = 'packages/gateway/src/catalog/search/keptTexts.ts';
const rank = 'packages/gateway/src/catalog/search/rankTools.ts';

export const mcpSearch: readonly Mutant[] = [
  {
    id: 'search.bound',
    file: endpoint,
    find: 'return endpoint.search ? `search:${path}` : path;',
    replace: 'return path;',
  },
  {
    id: 'search.call.dialogue',
    file: endpoint,
    find: 'return endpoint.search ? `search:${path}` : path;',
    replace: 'return path;',
  },
  {
    id: 'search.opt-in',
    file: endpoint,
    find: "if (given.length === 1 && given[0] === 'search') return true;",
    replace: 'if (given.length > 0) return true;',
  },
  {
    id: 'search.opt-in',
    file: tools,
    find: 'asked.endpoint.search ? callOrSearch(asked)',
    replace: 'asked.params ? callOrSearch(asked)',
  },
  {
    id: 'search.visible',
    file: 'packages/gateway/src/toolcall/listTools.ts',
    find: 'tools: entry.tools.filter((tool) => toolOffered(policy, inbound.principal, entry.server, tool)),',
    replace: 'tools: entry.tools,',
  },
  {
    id: 'search.visible',
    file: tools,
    find: "return code === 'MCP_ARGUMENTS_INVALID' || code === 'MCP_TOOL_NOT_FOUND';",
    replace: "return code === 'MCP_ARGUMENTS_INVALID';",
  },
  {
    id: 'search.shadow',
    file: tools,
    find: 'if (named !== SEARCH_TOOL && named !== CALL_TOOL) return call(asked, params);',
    replace:
      "if (asked.endpoint.kind === 'one' || (named !== SEARCH_TOOL && named !== CALL_TOOL)) return call(asked, params);",
  },
  {
    id: 'search.call.headers',
    file: tools,
    find: 'return await call(asked, searching.wantedBy(params), false);',
    replace: 'return await call(asked, searching.wantedBy(params));',
  },
  {
    id: 'search.call.headers',
    file: tools,
    find: "if (direct && era === 'modern' && routed.tool?.mirror)",
    replace: "if (direct && !asked.endpoint.search && era === 'modern' && routed.tool?.mirror)",
  },
  {
    id: 'search.call.dialogue',
    file: 'api/src/mcp/methods/callMethod.ts',
    find: 'return { endpoint: endpointKey(endpoint), method, params };',
    replace: 'return { endpoint: endpointKey(endpoint), method, params: endpoint.search ? {} : params };',
  },
  {
    id: 'search.call.approval',
    file: 'packages/gateway/src/toolcall/callTool.ts',
    find: '    if (asking) await asking;\n',
    replace: '    asking?.catch(() => undefined);\n',
  },
  {
    id: 'search.result',
    file: searching,
    find: 'if (JSON.stringify(whole).length <= share) return whole;',
    replace: 'if (share > 0) return whole;',
  },
  {
    id: 'search.instructions',
    file: 'api/src/mcp/instructions.ts',
    find: 'texts.unshift(howToSearch(servers))',
    replace: 'texts.unshift(howToSearch(servers.slice(0, 1)))',
  },
  {
    id: 'search.rank.bounded',
    file: text,
    find: 'counted.size < (isProse ? most.prose : most.terms)',
    replace: 'counted.size < 12_800',
  },
  {
    id: 'search.rank.bounded',
    file: text,
    find: 'for (const term of termsOf(read)) {',
    replace: 'for (const term of termsOf(text)) {',
  },
  {
    id: 'search.rank.bounded',
    file: text,
    find: 'depth < most.depth &&',
    replace: 'depth < Infinity &&',
  },
  {
    id: 'search.rank.bounded',
    file: text,
    find: 'left -= read.length;',
    replace: '',
  },
  {
    id: 'search.rank.bounded',
    file: text,
    find: 'if (seen > most.parameters) return found;',
    replace: 'if (found.length >= most.parameters) return found;',
  },
  {
    id: 'search.rank.bounded',
    file: 'packages/gateway/src/catalog/search/terms.ts',
    find: '.slice(0, 3 * text.length)',
    replace: '.slice()',
  },
  {
    id: 'search.rank.once',
    file: kept,
    find: 'own.texts.set(tool.definition, text);',
    replace: '',
  },
  {
    id: 'search.rank.once',
    file: kept,
    find: 'sort(([, a], [, b]) => b.bytes - a.bytes)',
    replace: 'sort(([, a], [, b]) => a.bytes - b.bytes)',
  },
  {
    id: 'search.rank.once',
    file: kept,
    find: '> mostBytes) makeRoom();',
    replace: '> Infinity) makeRoom();',
  },
  {
    id: 'search.rank.once',
    file: kept,
    find: '      total -= bytes;\n',
    replace: '',
  },
  {
    id: 'search.rank.ties',
    file: search,
    find: 'other.tool.name > tool.name',
    replace: 'other.tool.name === tool.name',
  },
  {
    id: 'search.paced',
    file: search,
    find: 'if (index > 0 && index % atOnce === 0) await giveWay();',
    replace: '',
  },
  {
    id: 'search.paced',
    file: search,
    find: 'if (signal.aborted) throw abortReason(signal);',
    replace: '',
  },
  {
    id: 'search.one-each',
    file: 'packages/gateway/src/catalog/search/turns.ts',
    find: '        await before;\n',
    replace: '',
  },
  {
    id: 'search.one-each',
    file: search,
    find: 'return inTurn(caller, async () => {',
    replace: "return inTurn('', async () => {",
  },
  {
    id: 'search.compared',
    file: rank,
    find: 'next < at + MOST_BESIDE;',
    replace: 'next < terms.length;',
  },
  {
    id: 'search.compared',
    file: rank,
    find: 'next >= at - MOST_BESIDE;',
    replace: 'next >= 0;',
  },
];
