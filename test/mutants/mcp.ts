import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Sessions, streams and signed state of the MCP endpoint. */
export const mcp: readonly Mutant[] = [
  {
    id: 'audience-as-a-prefix-of-the-origin',
    file: 'api/src/http/resourceServer.ts',
    find: 'return audience.startsWith(`${origin}/`) ?',
    replace: 'return audience.startsWith(origin) ?',
    test: 'api/src/http/resourceServer.test.ts',
  },
  {
    id: 'subscriptions-changed-without-mutual-exclusion',
    file: 'api/src/routes/mcp/relay/sharedLists.ts',
    find: "await withMaintenanceLease(parts, ['mcp-list', key], async (assertLeaseHeld) => {",
    replace:
      "await withMaintenanceLease(parts, ['mcp-list', String(parts.clock.now()), String(Math.random())], async (assertLeaseHeld) => {",
    test: 'api/src/routes/mcp/session/sessionLists.test.ts',
  },
  {
    id: 'event-id-of-another-stream',
    file: 'api/src/routes/mcp/sealed.ts',
    find: 'kind, field, binding: [key] };',
    replace: 'kind, field, binding: [key.slice(99)] };',
    test: 'api/src/routes/mcp/stream/streamBuffer.test.ts',
  },
  {
    id: 'session-id-of-another-user',
    file: 'api/src/routes/mcp/session/sessions.ts',
    find: "callerSealContext(caller, 'mcp-session',",
    replace: "callerSealContext({ ...caller, userId: '-' }, 'mcp-session',",
    test: 'test/scenarios/mcpSessions.test.ts',
    title: 'another user’s does not open, nor one of another endpoint',
  },
  {
    id: 'answer-id-of-another-request',
    file: 'api/src/routes/mcp/sealed.ts',
    find: 'kind, field, binding: [key] }',
    replace: 'kind, field, binding: [] }',
    test: 'api/src/routes/mcp/session/clientRequests.test.ts',
  },
  {
    id: 'request-state-of-another-user',
    file: 'api/src/routes/mcp/sealed.ts',
    find: 'principal: principalKey(caller),',
    replace: "principal: '-',",
    test: 'test/scenarios/mcpModern.test.ts',
    title: 'for nobody and nothing else',
  },
  {
    id: 'request-state-for-other-parameters',
    file: 'api/src/routes/mcp/requestState.ts',
    find: '[endpoint, digestOf(params)]',
    replace: '[endpoint]',
    test: 'test/scenarios/mcpModern.test.ts',
    title: 'for nobody and nothing else',
  },
  {
    id: 'sign-in-link-of-another-user',
    file: 'api/src/routes/oauth/connect.ts',
    find: 'principal: principalKey(caller),',
    replace: "principal: '-',",
    test: 'api/src/routes/oauth/connectLinks.test.ts',
  },
  {
    id: 'relayed-message-delivered-twice',
    file: 'api/src/routes/mcp/relay/mailbox.ts',
    find: 'if (await cache.delete(storedKey)) this.deliver(message);',
    replace: 'this.deliver(message);\n    await cache.delete(storedKey);',
    test: 'api/src/routes/mcp/relay/mailbox.test.ts',
  },
];
