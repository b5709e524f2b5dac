import type { Mutant } from '../mutants.ts';

const web = 'packages/web/src';
const connecting = `${web}/connect/connecting.ts`;
const following = `${web}/connect/followFlow.ts`;
const signals = `${web}/connect/flowSignals.ts`;
const chatDoor = 'api/src/chat';
const flows = 'packages/gateway/src/credentials/oauth/flows';

export const webConnect: readonly Mutant[] = [
  {
    id: 'web.connect.in-click',
    file: connecting,
    find: '      const opened = open();\n      let settle',
    replace: '      const opened = undefined;\n      let settle',
  },
  {
    id: 'web.connect.authority',
    file: following,
    find: "if (completed) return { kind: 'completed', ...(probe && { probe }) };",
    replace: "if (!failed) return { kind: 'completed', ...(probe && { probe }) };",
  },
  {
    id: 'web.connect.authority',
    file: following,
    find: 'error.status < 500 && error.status !== 429',
    replace: 'error.status < 600',
  },
  {
    id: 'web.connect.denied',
    file: connecting,
    find: 'const unlisten = listen(id, () => following.hurry());',
    replace: 'const unlisten = listen(id, () => undefined);',
  },
  {
    id: 'web.connect.closed',
    file: connecting,
    find: '          following.hurry();\n        });\n      });',
    replace: "          giveUp({ kind: 'idle' });\n        });\n      });",
  },
  {
    id: 'web.connect.closed',
    file: connecting,
    find: 'const GRACE_MS = 3_000;',
    replace: 'const GRACE_MS = 1;',
  },
  {
    id: 'web.connect.limit',
    file: connecting,
    find: '      if (givenUp) return;\n',
    replace: '',
  },
  {
    id: 'web.connect.limit',
    file: connecting,
    find: 'const LIMIT_MS = 5 * 60_000;',
    replace: 'const LIMIT_MS = 50 * 60_000;',
  },
  {
    id: 'web.connect.cancel',
    file: connecting,
    find: "return last?.kind === 'completed' ? last : undefined;",
    replace: 'return undefined;',
  },
  {
    id: 'web.connect.once',
    file: connecting,
    find: '      if (current) return current.ended;\n',
    replace: '',
  },
  {
    id: 'web.connect.join',
    file: `${web}/api/flows.ts`,
    find: "error.code === 'MCP_FLOW_PENDING'",
    replace: "error.code === 'MCP_FLOW_LIMIT'",
  },
  {
    id: 'web.connect.refused',
    file: connecting,
    find: "      if (state.get().kind === 'starting') first?.close();\n",
    replace: '',
  },
  {
    id: 'web.connect.address',
    file: `${web}/connect/ownAddress.ts`,
    find: 'return isLocal && isLoopbackHost(new URL(origin).hostname) ? url : undefined;',
    replace: 'return url;',
  },
  {
    id: 'web.connect.address',
    file: `${web}/connect/ownAddress.ts`,
    find: "const isLocal = url.protocol === 'http:' && isLoopbackHost(url.hostname);",
    replace: 'const isLocal = isLoopbackHost(url.hostname);',
  },
  {
    id: 'web.connect.signals',
    file: signals,
    find: 'if (from === origin && isAboutFlow(data, flowId)) told();',
    replace: 'if (isAboutFlow(data, flowId)) told();',
  },
  {
    id: 'web.connect.signals',
    file: `${web}/connect/flowMessage.ts`,
    find: "return type === 'behalf.oauth' && told === flowId;",
    replace: "return type === 'behalf.oauth';",
  },
  {
    id: 'web.connect.signals',
    file: signals,
    find: '      tryTo(() => storage().removeItem(key));\n',
    replace: '',
  },
  {
    id: 'web.connect.place',
    file: `${web}/connect/signInPlace.ts`,
    find: "return path.startsWith(OURS) ? 'here' : 'server';",
    replace: "return path.startsWith(OURS) ? 'server' : 'server';",
  },
  {
    id: 'web.connect.words',
    file: `${web}/connect/connectText.ts`,
    find: 'return Object.hasOwn(errors, error) ? errors[error as FlowError] : errors.callback_failed;',
    replace: 'return errors[error as FlowError];',
  },
  {
    id: 'web.connect.held-run',
    file: `${web}/tools/runs.ts`,
    find: "      if (run?.state !== 'held') return;\n",
    replace: '      if (!run) return;\n',
  },
  {
    id: 'web.connect.held-answer',
    file: `${web}/chat/session/applyEvent.ts`,
    find: "return state === 'waiting' && connect?.server === server ? [callId] : [];",
    replace: "return state === 'waiting' || connect?.server === server ? [callId] : [];",
  },
  {
    // The sign-in takes the page away instead of the window.
    id: 'web.connect.popup',
    file: `${web}/connect/signInWindow.ts`,
    find: 'opened.location.replace(address)',
    replace: 'location.replace(address)',
  },
  {
    id: 'web.connect.deny',
    file: `${flows}/finishFlow.ts`,
    find: 'if (parameters.error !== null) return errorOf(parameters.error);',
    replace: "if (parameters.error !== null) return 'callback_failed';",
  },
  {
    // Only the page forgets it.
    id: 'web.connect.cancelled',
    file: connecting,
    find: '      await cancel();\n      const last',
    replace: '      const last',
  },
  {
    id: 'web.connect.expired',
    file: `${flows}/flowStatus.ts`,
    find: 'pendingStatuses.includes(flow.status) && clock.now() < expiresAt',
    replace: 'pendingStatuses.includes(flow.status)',
  },
  {
    id: 'web.connect.same-tab',
    file: connecting,
    find: 'start({ returnTo: returnTo(), ...wanted })',
    replace: 'start({ ...wanted })',
  },
  {
    id: 'web.connect.phishing',
    file: `${flows}/openFlow.ts`,
    find: "if (flow.tenant !== tenant || flow.userId !== userId) throw new GatewayError('MCP_FLOW_FORBIDDEN');",
    replace: '',
  },
  {
    // Who comes second is not told which one is under way.
    id: 'web.connect.second-tab',
    file: 'api/src/oauth/flowRoutes.ts',
    find: "throw new GatewayError('MCP_FLOW_PENDING', { flow });",
    replace: "throw new GatewayError('MCP_FLOW_PENDING');",
  },
  {
    id: 'web.connect.disconnect',
    file: `${web}/servers/credentials/disconnectText.ts`,
    find: 'text: words.revoked[revoked]',
    replace: 'text: words.revoked.yes',
  },
  {
    id: 'web.connect.ended',
    file: `${web}/servers/credentials/CredentialRow.tsx`,
    find: '{isWanting && onConnect',
    replace: '{!isWanting && onConnect',
  },
  {
    id: 'web.connect.listed',
    file: `${web}/servers/list/ServerCard.tsx`,
    find: "(kind === 'needs_sign_in' || kind === 'signing_in')",
    replace: "kind === 'signing_in'",
  },
  {
    // The second account takes the place of the first.
    id: 'web.connect.several',
    file: `${web}/servers/credentials/SignInCard.tsx`,
    find: 'void connect.begin({ label });',
    replace: 'void connect.begin();',
  },
  {
    id: 'web.credentials.state',
    file: `${web}/servers/credentials/credentialState.ts`,
    find: "  if (status !== 'active') return status;\n",
    replace: '',
  },
  {
    id: 'web.credentials.disconnect',
    file: `${web}/servers/credentials/disconnectText.ts`,
    find: "const livesOn = revoked === 'failed' || revoked === 'unsupported';",
    replace: "const livesOn = revoked === 'failed';",
  },
  {
    id: 'web.credentials.token',
    file: `${web}/servers/credentials/tokenDraft.ts`,
    find: "    ...(renews && clientId === '' && { clientId: words.neededToRenew }),\n",
    replace: '',
  },
  {
    id: 'chat.connect.held',
    file: `${chatDoor}/tool/signInFirst.ts`,
    find: "    if (word !== 'connected') return answer;\n",
    replace: '    if (word) return answer;\n',
  },
  {
    id: 'chat.connect.declined',
    file: `${chatDoor}/tool/signInFirst.ts`,
    find: "    if (word !== 'connected') return answer;\n",
    replace: '',
  },
  {
    id: 'chat.connect.expired',
    file: `${chatDoor}/signIns.ts`,
    find: "return said === undefined || clock.now() >= expiresAt ? 'expired' : undefined;",
    replace: "return said === undefined || clock.now() >= expiresAt ? 'connected' : undefined;",
  },
  {
    id: 'chat.connect.own',
    file: `${chatDoor}/signIns.ts`,
    find: "return JSON.stringify(['sign-in', tenant, userId, conversationId, callId]);",
    replace:
      "return JSON.stringify(['sign-in', tenant.length * 0, userId.length * 0, conversationId, callId]);",
  },
  {
    id: 'chat.connect.own',
    file: `${chatDoor}/signIns.ts`,
    find: '      if ((await cache.get(key)) === undefined) return false;\n',
    replace: '',
  },
  {
    id: 'chat.connect.bounded',
    file: `${chatDoor}/tool/signInFirst.ts`,
    find: 'if (left === 0 || !canWait(running, connect)) {',
    replace: 'if (!canWait(running, connect)) {',
  },
  {
    id: 'chat.connect.program',
    file: `${chatDoor}/tool/signInFirst.ts`,
    find: "return owner.by.via === 'session' && connectUrl !== null",
    replace: 'return connectUrl !== null',
  },
  {
    id: 'chat.connect.program',
    file: `${chatDoor}/tool/signInFirst.ts`,
    find: ' && !connectUrl.startsWith(LEAVES_THE_PAGE);',
    replace: ';',
  },
];
