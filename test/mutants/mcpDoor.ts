import type { Mutant } from '../mutants.ts';

const sessions = 'api/src/mcp/session/sessions.ts';
const states = 'api/src/mcp/session/sessionStates.ts';
const asking = 'api/src/mcp/session/asking.ts';
const reply = 'api/src/mcp/stream/reply.ts';
const replays = 'api/src/mcp/stream/replays.ts';
const era = 'api/src/mcp/era.ts';
const requestState = 'api/src/mcp/requestState.ts';
const cursors = 'api/src/mcp/cursors.ts';
const admission = 'api/src/door/admission.ts';
const hotDoor = 'api/src/door/hotDoor.ts';
const keys = 'packages/gateway/src/catalog/serverKeys.ts';
const names = 'packages/gateway/src/catalog/prefixedNames.ts';
const routes = 'packages/gateway/src/toolcall/routeEndpoint.ts';

export const mcpDoor: readonly Mutant[] = [
  {
    id: 'mcp.door.in-flight',
    file: 'api/src/mcp/serveRequest.ts',
    find: '      inFlight.enter(caller.userId);\n',
    replace: '',
  },
  {
    id: 'mcp.door.in-flight',
    file: 'api/src/mcp/serveRequest.ts',
    find: '        inFlight.leave(caller.userId);\n',
    replace: '',
  },
  {
    id: 'mcp.door.trace',
    file: 'api/src/mcp/mcpInbound.ts',
    find: "(isObject(meta) && traceContext(meta as Asked['headers'])) || traceContext(headers)",
    replace: 'traceContext(headers)',
  },
  {
    id: 'mcp.signin.retry',
    file: 'api/src/mcp/authNeeded.ts',
    find: 'const times = (state.asked ?? 0) + 1;',
    replace: 'const times = (state.asked ?? 0) + 3;',
  },
  {
    id: 'mcp.params.absent',
    file: 'api/src/mcp/paramHeaders.ts',
    find: 'if (headers[name] !== undefined) throw',
    replace: 'if (headers[name] === name) throw',
  },
  {
    id: 'mcp.params.passed',
    file: 'api/src/mcp/paramHeaders.ts',
    find: '!VALUE.test(value)',
    replace: "value === ''",
  },
  {
    id: 'mcp.params.passed',
    file: 'packages/gateway/src/toolcall/callUpstream.ts',
    find: "const goesOn = passed && era === 'modern';",
    replace: 'const goesOn = passed;',
  },
  {
    id: 'mcp.modern.envelope',
    file: 'api/src/mcp/era.ts',
    find: '!isLogLevel(logLevel)',
    replace: "typeof logLevel !== 'string'",
  },
  {
    id: 'mcp.errors.own-hop',
    file: 'api/src/mcp/rpcFault.ts',
    find: "if (code === 'MCP_FORM_REFUSED') return rpcCode.internal;",
    replace: "if (code === 'MCP_FORM_REFUSED') return rpcCode.headerMismatch;",
  },
  {
    id: 'mcp.errors.method',
    file: 'api/src/mcp/serveRequest.ts',
    find: " && endpoint.kind === 'one'",
    replace: '',
  },
  {
    id: 'mcp.signin.forms',
    file: 'packages/gateway/src/toolcall/unlisted.ts',
    find: "if (absence.state === 'needs_authorization') return routed;",
    replace: 'if (absence === undefined) return routed;',
  },
  {
    id: 'mcp.signin.forms',
    file: 'api/src/mcp/authNeeded.ts',
    find: ' && DIALOGUES.has(method)',
    replace: '',
  },
  {
    id: 'mcp.signin.own-token',
    file: 'packages/gateway/src/toolcall/signInNeeded.ts',
    find: "own?.detail.via === 'bearer' ? ownTokenRefused(own) : undefined",
    replace: 'own && ownTokenRefused(own)',
  },
  {
    id: 'mcp.signin.own-token',
    file: 'packages/gateway/src/catalog/eachServer.ts',
    find: "    case 'OBO_REJECTED':\n",
    replace: '',
  },
  {
    id: 'mcp.signin.own-link',
    file: 'api/src/oauth/connectLinks.ts',
    find: 'principal: principalKey(caller),',
    replace: "principal: '-',",
  },
  {
    id: 'mcp.signin.own-link',
    file: 'api/src/oauth/askedRoute.ts',
    find: "if (judged === 'foreign') throw",
    replace: "if (judged === 'foreign' && serverName === '') throw",
  },
  {
    id: 'mcp.signin.one-card',
    file: 'api/src/oauth/connectLinks.ts',
    find: 'const settled = own.map(({ id, generation }) => [id, generation]).sort();',
    replace: 'const settled = own.map(({ id }) => [id]);',
  },
  {
    id: 'mcp.streams.signed-out',
    file: 'api/src/composeMcp.ts',
    find: 'onSignedOut: (principal) => streams.endOf(principal),',
    replace: 'onSignedOut: () => undefined,',
  },
  {
    id: 'mcp.streams.signed-out',
    file: 'api/src/mcp/stream/openStreams.ts',
    find: 'if (principalKey(caller) === principal) end();',
    replace: 'if (principal !== String(caller)) end();',
  },
  {
    id: 'mcp.session.bounded',
    file: 'api/src/mcp/session/subscriptions.ts',
    find: 'if (address.length > LONGEST_ADDRESS)',
    replace: 'if (address.length > LONGEST_ADDRESS * 2)',
  },
  {
    id: 'mcp.session.bounded',
    file: 'api/src/mcp/session/subscriptions.ts',
    find: 'sum + length, address.length) > LONGEST_IN_ALL',
    replace: 'sum + length, address.length) > LONGEST_IN_ALL * 2',
  },
  {
    id: 'mcp.session.bounded',
    file: 'api/src/mcp/session/cancelName.ts',
    find: 'if (id.length <= LONGEST_AS_IT_IS) return',
    replace: 'if (id.length >= 0) return',
  },
  {
    id: 'mcp.session.owner',
    file: sessions,
    find: 'const own = isOwner && seen.endpoint === endpoint;',
    replace: 'const own = seen.endpoint === endpoint;',
  },
  {
    id: 'mcp.session.owner',
    file: sessions,
    find: 'const own = isOwner && seen.endpoint === endpoint;',
    replace: 'const own = isOwner;',
  },
  {
    id: 'mcp.session.owner',
    file: sessions,
    find: 'principal: principalKey(caller),\n    server:',
    replace: "principal: '-',\n    server:",
  },
  {
    id: 'mcp.session.refresh',
    file: sessions,
    find: 'binding: [caller.issuer, endpoint]',
    replace: 'binding: [JSON.stringify(caller.by), endpoint]',
  },
  {
    id: 'mcp.session.ended',
    file: states,
    find: 'const state = { ended: ended !== undefined, logLevel };',
    replace: 'const state = { ended: false, logLevel };',
  },
  {
    id: 'mcp.session.ended',
    file: states,
    find: "if (topic !== 'mcp') return;",
    replace: "if (topic === 'mcp') return;",
  },
  {
    id: 'mcp.session.answers',
    file: asking,
    find: 'if (!keyring.verifyMac(nonce, id.slice(cut + 1), contextOf(place))) return;',
    replace: '',
  },
  {
    id: 'mcp.session.answers',
    file: asking,
    find: "field: 'id', binding: [key] }",
    replace: "field: 'id', binding: [] }",
  },
  {
    id: 'mcp.legacy.leaving',
    file: 'api/src/mcp/stream/eventIds.ts',
    find: "field: 'id', binding: [key] };",
    replace: "field: 'id', binding: [key.slice(99)] };",
  },
  {
    id: 'mcp.legacy.leaving',
    file: replays,
    find: 'if (!isRead) leaveWord(kept);',
    replace: '',
  },
  {
    id: 'mcp.legacy.forgotten',
    file: reply,
    find: '    this.#replay?.drop();\n',
    replace: '',
  },
  {
    id: 'mcp.legacy.forgotten',
    file: reply,
    find: '    this.#over = true;\n',
    replace: '',
  },
  {
    id: 'mcp.legacy.forgotten',
    file: replays,
    find: '          kept.reader.end();\n          forget(kept);\n',
    replace: '          forget(kept);\n',
  },
  {
    id: 'mcp.legacy.slow-reader',
    file: replays,
    find: 'kept.reader.hint(text, next(text))',
    replace: 'emit(text)',
  },
  {
    id: 'mcp.legacy.slow-reader',
    file: replays,
    find: 'bytes > most.bytes || sumOf(kept) > most.ownBytes',
    replace: 'sumOf(kept) > most.ownBytes',
  },
  {
    id: 'mcp.door.streams-released',
    file: 'api/src/mcp/streamDoor.ts',
    find: '      stop();\n      throw error;\n',
    replace: '      throw error;\n',
  },
  {
    id: 'mcp.door.streams-released',
    file: 'api/src/mcp/stream/openStreams.ts',
    find: '          end();\n        } catch {\n',
    replace: '          end();\n        } catch (error) {\n          throw error;\n',
  },
  {
    id: 'mcp.door.streams-released',
    file: 'api/src/mcp/stream/ownWatches.ts',
    find: 'const own = ownServers(servers, caller, endpoint);',
    replace: 'const own = endpointServers(servers, caller, endpoint);',
  },
  {
    id: 'mcp.door.streams-released',
    file: 'api/src/mcp/streamDoor.ts',
    find: '        if (res.closed) return;\n',
    replace: '',
  },
  {
    id: 'mcp.door.streams-released',
    file: 'api/src/mcp/streamDoor.ts',
    find: '          stops.push(stop);',
    replace: 'return;',
  },
  {
    id: 'mcp.modern.headers',
    file: era,
    find: 'if (decoded !== value) throw mismatch(',
    replace: 'if (decoded === undefined) throw mismatch(',
  },
  {
    id: 'mcp.modern.headers',
    file: era,
    find: 'if (said !== undefined && said !== method) throw mismatch(',
    replace: 'if (said !== undefined && said === undefined) throw mismatch(',
  },
  {
    id: 'mcp.modern.headers',
    file: era,
    find: '  checkMirrored(headers, message);\n',
    replace: '',
  },
  {
    id: 'mcp.modern.headers',
    file: 'api/src/mcp/paramHeaders.ts',
    find: 'if (given !== value && !sameNumber(given, value)) throw mismatch(',
    replace: 'if (value === undefined) throw mismatch(',
  },
  {
    id: 'mcp.modern.state',
    file: requestState,
    find: 'principal: principalKey(caller),',
    replace: "principal: '-',",
  },
  {
    id: 'mcp.modern.state',
    file: requestState,
    find: 'binding: [endpoint, digestOf(params)]',
    replace: 'binding: [endpoint]',
  },
  {
    id: 'mcp.list.cursor',
    file: cursors,
    find: 'principal: principalKey(caller),',
    replace: "principal: '-',",
  },
  {
    id: 'mcp.door.origin',
    file: hotDoor,
    find: '      if (route.programs) admission.checkProgram(req);\n',
    replace: '',
  },
  {
    id: 'mcp.door.programs',
    file: admission,
    find: "      if (asked.programs && req.headers.authorization === undefined) throw new GatewayError('AUTH_REQUIRED');\n",
    replace: '',
  },
  {
    id: 'mcp.names.looked-up',
    file: names,
    find: 'ownName: (publicName) => byPublic.get(publicName),',
    replace: "ownName: (publicName) => publicName.split('__')[1],",
  },
  {
    id: 'mcp.names.prefixed',
    file: names,
    find: 'readable.length <= longestPublicName && ',
    replace: '',
  },
  {
    id: 'mcp.names.stable',
    file: keys,
    find: "createHash('sha256').update(id)",
    replace: "createHash('sha256').update(`${id}${String(Math.random())}`)",
  },
  {
    id: 'mcp.resources.addresses',
    file: 'packages/gateway/src/toolcall/routeResource.ts',
    find: '  if (other) throw',
    replace: '  if (other && server === other) throw',
  },
  {
    id: 'mcp.list.changes',
    file: 'api/src/mcp/stream/followLists.ts',
    find: ' || !concerns(serverId)) return;',
    replace: ') return;',
  },
  {
    id: 'mcp.list.filtered',
    file: 'packages/gateway/src/toolcall/listTools.ts',
    find: 'tools: entry.tools.filter((tool) => toolOffered(policy, inbound.principal, entry.server, tool)),',
    replace: 'tools: entry.tools,',
  },
  {
    id: 'mcp.door.denied-alike',
    file: routes,
    find: "throw new GatewayError('MCP_TOOL_NOT_FOUND');\n  return found;",
    replace: "throw new GatewayError('MCP_SERVER_NOT_FOUND');\n  return found;",
  },
  {
    id: 'mcp.list.bounded',
    file: 'packages/gateway/src/catalog/eachServer.ts',
    find: 'const DEADLINE_MS = 5_000;',
    replace: 'const DEADLINE_MS = 50_000;',
  },
];
