import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Whose token a request to an MCP server carries, and how often the request is sent. */
export const upstream: readonly Mutant[] = [
  {
    id: 'connection-keeps-its-first-token',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: 'let currentBearer: Bearer | undefined = target.bearer;',
    replace:
      'const kept = target.bearer && target.bearer.token();\n  let currentBearer = target.bearer && { ...target.bearer, token: () => kept! };',
    test: 'packages/gateway/src/upstream/http/bearer.test.ts',
  },
  {
    id: 'token-of-the-connection-before-that-of-the-request',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: 'bearer: options.bearer ?? currentBearer,',
    replace: 'bearer: currentBearer ?? options.bearer,',
    test: 'packages/gateway/src/upstream/http/bearer.test.ts',
  },
  {
    id: 'new-session-with-the-first-users-token',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: 'bearer: presentedBearer = currentBearer,\n  }: PresentedCredential): Promise<LegacySession>',
    replace: 'bearer: presentedBearer = target.bearer }: PresentedCredential): Promise<LegacySession>',
    test: 'packages/gateway/src/upstream/http/bearer.test.ts',
  },
  {
    id: 'sse-request-with-the-newest-senders-token',
    file: 'packages/gateway/src/upstream/channel/sseTransport.ts',
    find: 'const { bearer, shouldSend } = sendContexts.get(init.body) ?? {};',
    replace: 'const { bearer, shouldSend } = [...sendContexts.values()].at(-1) ?? {};',
    test: 'packages/gateway/src/upstream/channel/sseBearer.test.ts',
  },
  {
    id: 'placeholder-instead-of-a-missing-token',
    file: 'packages/gateway/src/upstream/http/sendRpc.ts',
    find: 'await deadline.waitForToken(tokenResult) : tokenResult;',
    replace: "await deadline.waitForToken(tokenResult).catch(() => 'none') : tokenResult;",
    test: 'packages/gateway/src/upstream/http/tokenUnavailable.test.ts',
  },
  {
    id: 'request-without-a-token-when-the-exchange-fails',
    file: 'packages/gateway/src/upstream/http/modernUpstream.ts',
    find: 'await sendWithCredential(send, request, bearer)',
    replace: 'await sendWithCredential(send, request, bearer).catch(() => send(request))',
    test: 'packages/gateway/src/upstream/http/tokenUnavailable.test.ts',
  },
  {
    id: 'stateless-connection-keeps-its-first-token',
    file: 'packages/gateway/src/upstream/http/modernUpstream.ts',
    find: 'const { bearer, meta, onLog, onProgress, dialogue, logLevel } = options;',
    replace:
      'const { meta, onLog, onProgress, dialogue, logLevel } = options;\n      const bearer = ((rpcParts as any).latest ??= options.bearer);',
    test: 'packages/gateway/src/upstream/http/oneHeader.test.ts',
  },
  {
    id: 'request-does-not-wait-for-its-token',
    file: 'packages/gateway/src/toolcall/credential.ts',
    find: '  if (token instanceof Promise) await rejectOnAbort(token, inbound.signal);\n',
    replace: '  if (token instanceof Promise) token.catch(() => undefined);\n',
    test: 'packages/gateway/src/toolcall/obo.test.ts',
  },
  {
    id: 'two-handshakes-for-one-lost-session',
    file: 'packages/gateway/src/upstream/http/session.ts',
    find: 'renewal ??= open(credential)',
    replace: 'renewal = open(credential)',
    test: 'packages/gateway/src/upstream/http/session.test.ts',
  },
  {
    id: 'lost-session-repeats-without-limit',
    file: 'packages/gateway/src/upstream/http/session.ts',
    find: 'return await sendOn(newSession, request);',
    replace: 'return await this.send(request);',
    test: 'packages/gateway/src/upstream/http/session.test.ts',
  },
  {
    id: 'server-error-taken-for-a-lost-session',
    file: 'packages/gateway/src/upstream/http/errors.ts',
    find: "if (status >= 500) return new UpstreamError('upstream_5xx', { status });",
    replace: "if (status >= 500) return new UpstreamError('session_lost', { status: 404 });",
    test: 'packages/gateway/src/upstream/http/session.test.ts',
  },
  {
    id: 'subscription-shared-between-credentials',
    file: 'packages/gateway/src/toolcall/subscribe.ts',
    find: 'const key = JSON.stringify([server.tenant, server.id, server.scope, listOwner, credential ?? null]);',
    replace: 'const key = JSON.stringify([server.tenant, server.id, server.scope]);',
    test: 'packages/gateway/src/toolcall/subscribeToServer.test.ts',
  },
  {
    id: 'question-of-one-call-to-the-user-of-another',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: '    const serverRequests = createServerRequests(',
    replace:
      '    const [shared] = activeServerRequests;\n    const serverRequests = shared ?? createServerRequests(',
    test: 'packages/gateway/src/toolcall/dialogue.test.ts',
  },
];
