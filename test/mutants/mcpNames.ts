import type { Mutant } from '../mutants.ts';

const rules = 'packages/contracts/src/config/endpointRules.ts';
const chosen = 'packages/contracts/src/config/endpointNames.ts';
const keys = 'packages/gateway/src/catalog/serverKeys.ts';
const own = 'packages/gateway/src/toolcall/ownNames.ts';
const words = 'packages/gateway/src/shaping/plainWords.ts';
const resources = 'packages/gateway/src/toolcall/routeResource.ts';
const guests = 'api/src/door/guestPages.ts';
const route = 'packages/gateway/src/toolcall/routeOwnName.ts';

export const mcpNames: readonly Mutant[] = [
  {
    id: 'settings.endpoint.names',
    file: rules,
    find: '    taken.set(key, formatPath(at));\n',
    replace: '',
  },
  {
    id: 'settings.endpoint.names',
    file: rules,
    find: '      taken.set(alias, formatPath(at));\n',
    replace: '',
  },
  {
    id: 'settings.endpoint.names',
    file: rules,
    find: 'if (chosen[name]?.key === undefined && isServerKey(name)) taken',
    replace: 'if (chosen[name]?.key !== undefined && isServerKey(name)) taken',
  },
  {
    id: 'settings.endpoint.origins',
    file: rules,
    find: '    if (url.origin !== text) {\n',
    replace: '    if (!text.startsWith(url.origin)) {\n',
  },
  {
    id: 'settings.endpoint.origins',
    file: rules,
    find: " || url.hostname.includes('*')",
    replace: '',
  },
  {
    id: 'mcp.names.priority',
    file: chosen,
    find: '.test(text) && !text.includes(betweenNames);',
    replace: '.test(text);',
  },
  {
    id: 'mcp.names.kept',
    file: own,
    find: '    if (!known) break;\n',
    replace: '    if (!known) continue;\n',
  },
  {
    id: 'mcp.names.kept',
    file: own,
    find: 'const known = server && parts.sees(principal, server) ? knownOf(server) : undefined;',
    replace:
      'if (server && !parts.sees(principal, server)) continue;\n    const known = server && knownOf(server);',
  },
  {
    id: 'mcp.names.kept',
    file: route,
    find: '    if (!list?.complete) break;\n  }\n  return loadFirst(',
    replace: '  }\n  return loadFirst(',
  },
  {
    id: 'mcp.names.kept',
    file: route,
    find: 'if (alone && (tool || !list)) return',
    replace: 'if (alone && tool) return',
  },
  {
    id: 'mcp.names.kept',
    file: route,
    find: "    if (!list?.complete) break;\n  }\n  throw new GatewayError('MCP_TOOL_NOT_FOUND');",
    replace: "  }\n  throw new GatewayError('MCP_TOOL_NOT_FOUND');",
  },
  {
    id: 'mcp.names.users',
    file: keys,
    find: 'isChosen(server.name) ? level + 1 : level',
    replace: 'level',
  },
  {
    id: 'mcp.names.aliases',
    file: own,
    find: 'if (!isPlainName(name) || aliases.meaningOf(name) !== undefined) return false;',
    replace: 'if (!isPlainName(name)) return false;',
  },
  {
    id: 'mcp.instructions.quoted',
    file: words,
    find: ".replace(BREAKS, '\\n')",
    replace: '',
  },
  {
    id: 'mcp.instructions.quoted',
    file: words,
    find: ".replace(UNSEEN, '')",
    replace: '',
  },
  {
    id: 'mcp.instructions.quoted',
    file: 'api/src/mcp/instructions.ts',
    find: "text.replace(/^/gm, '> ')",
    replace: "text.replace(/^/g, '> ')",
  },
  {
    id: 'mcp.instructions.quoted',
    file: 'packages/gateway/src/toolcall/inspectServer.ts',
    find: 'masked: (text) => mask(text, shownTo(target)),',
    replace: 'masked: (text) => text,',
  },
  {
    id: 'mcp.instructions.users',
    file: 'packages/gateway/src/toolcall/serverWords.ts',
    find: 'catalog.peek(server, holderKey(server, principal))',
    replace: "catalog.peek(server, holderKey(server, { ...principal, userId: 'x' } as Principal))",
  },
  {
    id: 'mcp.resources.kept',
    file: resources,
    find: '? parts.listings.last(server, holderKey(server, inbound.principal), method) : listed',
    replace: '? undefined : listed',
  },
  {
    id: 'mcp.resources.kept',
    file: 'packages/gateway/src/toolcall/listEndpoint.ts',
    find: 'of [...lists, ...away]) {',
    replace: 'of [...lists, ...away.slice(0, 0)]) {',
  },
  {
    id: 'mcp.resources.kept',
    file: 'api/src/composeLists.ts',
    find: 'else listings.expire(serverId);',
    replace: 'else listings.invalidate(serverId);',
  },
  {
    id: 'mcp.resources.standing',
    file: resources,
    find: "  if (source !== 'user') return 'operator';\n",
    replace: "  if (source !== undefined) return 'operator';\n",
  },
  {
    id: 'mcp.resources.standing',
    file: resources,
    find: 'if (unknown.length > 0 && (isOpen || left.length > 0))',
    replace: 'if (unknown.length > 0 && isOpen)',
  },
  {
    id: 'mcp.resources.standing',
    file: resources,
    find: "return author === userId ? 'own' : 'shared';",
    replace: "return author === userId ? 'own' : 'own';",
  },
  {
    id: 'mcp.resources.standing',
    file: resources,
    find: "const isOpen = standing === 'shared' && ",
    replace: "const isOpen = standing !== 'shared' && ",
  },
  {
    id: 'mcp.resources.apps',
    file: resources,
    find: '=> uri === address), ...apps.owners]',
    replace: '=> uri === address)]',
  },
  {
    id: 'mcp.resources.apps',
    file: resources,
    find: '[...unknownIn(listed), ...apps.unknown]',
    replace: 'unknownIn(listed)',
  },
  {
    id: 'mcp.resources.apps',
    file: 'packages/gateway/src/toolcall/appAddresses.ts',
    find: 'return now === address || before === address;',
    replace: 'return now === address;',
  },
  {
    id: 'mcp.resources.bare',
    file: resources,
    find: "standing === 'operator' ? claimsTo : appsAt",
    replace: "standing !== 'shared' ? claimsTo : appsAt",
  },
  {
    id: 'mcp.resources.bare',
    file: resources,
    find: "standing === 'operator' ? claimsTo : appsAt",
    replace: "standing !== 'own' ? claimsTo : appsAt",
  },
  {
    id: 'mcp.resources.bare',
    file: 'packages/gateway/src/toolcall/listEndpoint.ts',
    find: '? isAppAddress(address) && tools !== undefined && namesApp(tools, address)',
    replace: '? isAppAddress(address) && tools !== undefined',
  },
  {
    id: 'mcp.origins.others',
    file: guests,
    find: 'const methods = isAllowed(origin) ? methodsAt',
    replace: 'const methods = isAllowed(origin) || origin ? methodsAt',
  },
  {
    id: 'mcp.origins.others',
    file: 'api/src/compose.ts',
    find: 'allowedOrigins.includes(origin) === true;',
    replace: 'allowedOrigins.some((one) => origin.startsWith(one)) === true;',
  },
  {
    id: 'mcp.origins.closed',
    file: guests,
    find: '    if (!guests) continue;\n',
    replace: '',
  },
  {
    id: 'mcp.origins.closed',
    file: guests,
    find: '          .filter((name) => TAKEN.test(name))\n',
    replace: '',
  },
  {
    id: 'mcp.origins.cookies',
    file: guests,
    find: '    delete req.headers.cookie;\n',
    replace: '',
  },
  {
    id: 'mcp.origins.cookies',
    file: guests,
    find: "    res.setHeader('Access-Control-Expose-Headers', EXPOSED);\n",
    replace:
      "    res.setHeader('Access-Control-Expose-Headers', EXPOSED);\n    res.setHeader('Access-Control-Allow-Credentials', 'true');\n",
  },
];
