import type { Mutant } from '../mutants.ts';

export const relay: readonly Mutant[] = [
  {
    id: 'relay.channel.own-call',
    file: 'packages/gateway/src/upstream/channel/peer.ts',
    find: 'return another ? undefined : only;',
    replace: 'return another ?? only;',
  },
  {
    id: 'relay.channel.own-call',
    file: 'packages/gateway/src/upstream/channel/peer.ts',
    find: 'if (!isOwned) return undefined;',
    replace: '',
  },
  {
    id: 'relay.watch.own',
    file: 'packages/gateway/src/toolcall/watchServer.ts',
    find: 'const key = JSON.stringify([server.tenant, server.id, server.scope, own, credential ?? null]);',
    replace: 'const key = JSON.stringify([server.tenant, server.id, server.scope]);',
  },
  {
    id: 'relay.watch.access',
    file: 'packages/gateway/src/watching/feed.ts',
    find: 'if (watchers.has(watcher) && watcher.mayHear()) watcher.hear(notice);',
    replace: 'watcher.hear(notice);',
  },
  {
    id: 'relay.watch.resources',
    file: 'packages/gateway/src/watching/feed.ts',
    find: "else tell([...(wanted.get(String(notice.params['uri'])) ?? [])], notice);",
    replace: 'else tell([...watchers.keys()], notice);',
  },
  {
    id: 'relay.legacy.own-call',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: '    const questions = createQuestions({',
    replace: '    const [shared] = dialogues;\n    const questions = shared ?? createQuestions({',
  },
  {
    id: 'relay.legacy.own-call',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: 'return owner !== undefined && ending',
    replace: 'return ending',
  },
  {
    id: 'relay.legacy.own-stream',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: 'owner === undefined || isEmpty(dialogue.capabilities) ? ask() : stream.during(ask)',
    replace: 'ask()',
  },
  {
    id: 'relay.legacy.own-stream',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: 'owner !== undefined && ending.inFlight.size === 1 ? only : undefined',
    replace: 'owner !== undefined ? only : undefined',
  },
  {
    id: 'relay.legacy.declared',
    file: 'packages/gateway/src/upstream/askPeer.ts',
    find: '!mayAsk(dialogue.capabilities, method, params)',
    replace: '!mayAsk({ elicitation: { form: {}, url: {} } }, method, params)',
  },
  {
    id: 'relay.legacy.declared',
    file: 'packages/gateway/src/upstream/dialogue.ts',
    find: "return protocol === 'https:' || protocol === 'http:';",
    replace: 'return protocol !== undefined;',
  },
  {
    id: 'relay.legacy.opt-in',
    file: 'packages/gateway/src/upstream/dialogue.ts',
    find: "    ...(relay.includes('sampling') && { sampling: {} }),",
    replace: '    sampling: {},',
  },
  {
    id: 'relay.legacy.elicitation',
    file: 'packages/gateway/src/upstream/dialogue.ts',
    find: "relay.includes('roots') && { roots: {} }),\n  };\n}\n\nconst NOTHING",
    replace: '{ roots: {} }),\n  };\n}\n\nconst NOTHING',
  },
  {
    id: 'relay.modern.opt-in',
    file: 'packages/gateway/src/toolcall/dialogue.ts',
    find: '!mayAsk(capabilities, method, params)) return undefined;',
    replace: 'params === undefined) return undefined;',
  },
  {
    id: 'relay.masked',
    file: 'packages/gateway/src/toolcall/dialogue.ts',
    find: 'return maskJson(withoutOurMeta(named), ready);',
    replace: 'return withoutOurMeta(named);',
  },
  {
    id: 'relay.masked',
    file: 'packages/gateway/src/toolcall/heardOf.ts',
    find: 'maskJson(withoutOurMeta(params), ready)',
    replace: 'withoutOurMeta(params)',
  },
  {
    id: 'relay.legacy.left',
    file: 'packages/gateway/src/upstream/http/legacyUpstream.ts',
    find: '    questions.end();\n',
    replace: '',
  },
  {
    id: 'relay.modern.kind',
    file: 'packages/gateway/src/toolcall/callUpstream.ts',
    find: "inbound.peer && era === 'legacy' ? withoutKind(answer) : answer;",
    replace: 'answer;',
  },
];
