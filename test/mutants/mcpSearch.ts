import type { Mutant } from '../mutants.ts';

const endpoint = 'api/src/mcp/doorEndpoint.ts';
const tools = 'api/src/mcp/methods/tools.ts';
const searching = 'api/src/mcp/methods/searching.ts';
const text = 'packages/gateway/src/catalog/search/toolText.ts';
const search = 'packages/gateway/src/catalog/search/toolSearch.ts';

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
    find: 'if (counted.size < most.terms)',
    replace: 'if (counted.size < most.terms * 100)',
  },
  {
    id: 'search.rank.bounded',
    file: text,
    find: 'for (const term of termsOf(text.slice(0, longest))) {',
    replace: 'for (const term of termsOf(text)) {',
  },
  {
    id: 'search.rank.bounded',
    file: text,
    find: 'depth < most.depth &&',
    replace: 'depth < Infinity &&',
  },
  {
    id: 'search.rank.once',
    file: search,
    find: 'newer.set(tool.definition, text);',
    replace: '',
  },
  {
    id: 'search.rank.once',
    file: search,
    find: '      kept = 0;\n',
    replace: '',
  },
  {
    id: 'search.rank.ties',
    file: search,
    find: ' || (a.tool.name < b.tool.name ? -1 : 1)',
    replace: '',
  },
];
