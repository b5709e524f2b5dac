import type { Mutant } from '../mutants.ts';

const openStreams = 'api/src/mcp/stream/openStreams.ts';
const callerWatch = 'packages/gateway/src/identity/callerWatch.ts';
const sessionStreams = 'api/src/mcp/session/sessionStreams.ts';
const mailbox = 'api/src/mcp/session/mailbox.ts';
const feed = 'packages/gateway/src/watching/feed.ts';

export const mcpStreams: readonly Mutant[] = [
  {
    id: 'mcp.list.fetched-once',
    file: 'packages/gateway/src/catalog/listings.ts',
    find: 'return flights.run([key, fresh, begun], look, { signal });',
    replace: 'return look(signal ?? new AbortController().signal);',
  },
  {
    id: 'catalog.listings.one-flight',
    file: 'packages/gateway/src/catalog/listings.ts',
    find: 'flights.run([key, fresh, begun], look',
    replace: 'flights.run([key, fresh], look',
  },
  {
    id: 'mcp.list.own-changes',
    file: 'api/src/mcp/stream/ownWatches.ts',
    find: '    if (watches.size >= MOST_OWN) return false;\n',
    replace: '',
  },
  {
    id: 'mcp.list.own-changes',
    file: 'api/src/mcp/stream/followLists.ts',
    find: 'if (others) watches?.update();',
    replace: '',
  },
  {
    id: 'mcp.list.own-changes',
    file: 'api/src/mcp/methods/listen.ts',
    find: "endpoint.kind === 'one' && lists.unheard.length > 0 ? noKinds : wanted.kinds",
    replace: 'wanted.kinds',
  },
  {
    id: 'mcp.list.ttl',
    file: 'packages/gateway/src/toolcall/listEndpoint.ts',
    find: "scope === 'app' && listFeeds.follows(id, kind)",
    replace: "scope === 'app'",
  },
  {
    id: 'mcp.list.ttl',
    file: 'packages/gateway/src/upstream/http/stream.ts',
    find: 'if (isOpen) source.onOpen?.(false);',
    replace: '',
  },
  {
    id: 'mcp.list.ttl',
    file: 'api/src/composeServers.ts',
    find: "          ...(target.type !== 'stdio' && target.bearer && { bearer: target.bearer }),\n",
    replace: '',
  },
  {
    id: 'mcp.resources.updates',
    file: 'packages/gateway/src/upstream/channel/openChannelUpstream.ts',
    find: 'listeners.add(listener, options)',
    replace: 'listeners.add(listener)',
  },
  {
    id: 'mcp.resources.updates',
    file: 'api/src/mcp/methods/resources.ts',
    find: '      await requireUpdates(servers, server, inbound);\n',
    replace: '',
  },
  {
    id: 'mcp.resources.updates',
    file: 'packages/gateway/src/toolcall/watchServer.ts',
    find: 'if (!offersUpdates(upstream.claims)) throw nothingToHear();',
    replace: '',
  },
  {
    id: 'identity.caller.watched',
    file: callerWatch,
    find: 'fresh.add(one);\n      void askAll();',
    replace: 'fresh.delete(one);',
  },
  {
    id: 'identity.caller.watched',
    file: callerWatch,
    find: 'user.disabledAt === null && user.role === role',
    replace: 'user.disabledAt === null',
  },
  {
    id: 'identity.caller.watched',
    file: callerWatch,
    find: 'for (const topic of topics) wanted.add(topic);',
    replace: 'wanted.clear();',
  },
  {
    id: 'mcp.streams.revoked',
    file: openStreams,
    find: 'const unfollow = callers.follow(caller, ending);',
    replace: 'const unfollow = callers.follow(caller, () => undefined);',
  },
  {
    id: 'mcp.streams.revoked',
    file: 'api/src/mcp/stream/reply.ts',
    find: 'this.#exchange.caller, () => this.#cancel());',
    replace: 'this.#exchange.caller, () => undefined);',
  },
  {
    id: 'mcp.streams.expired',
    file: openStreams,
    find: 'const left = Math.min(untilOf(caller), until) - clock.now();',
    replace: 'const left = until - clock.now();',
  },
  {
    id: 'mcp.streams.expired',
    file: openStreams,
    find: 'const left = Math.min(untilOf(caller), until) - clock.now();',
    replace: 'const left = untilOf(caller) - clock.now();',
  },
  {
    id: 'mcp.session.subscriptions',
    file: 'api/src/mcp/session/sharedLists.ts',
    find: "await alone(parts, ['mcp-list', slot], async (stillAlone) => {",
    replace:
      "await alone(parts, ['mcp-list', String(parts.clock.now()), String(Math.random())], async (stillAlone) => {",
  },
  {
    id: 'mcp.session.subscriptions',
    file: 'api/src/mcp/session/subscriptions.ts',
    find: 'if (known.length >= MOST_SUBSCRIBED)',
    replace: 'if (known.length >= MOST_SUBSCRIBED + 1)',
  },
  {
    id: 'mcp.resume.lost',
    file: 'api/src/mcp/stream/attend.ts',
    find: 'if (clock.now() - seenAt >= SILENT_MS)',
    replace: 'if (clock.now() - seenAt >= SILENT_MS * 100)',
  },
  {
    id: 'mcp.resume.lost',
    file: 'api/src/mcp/stream/attend.ts',
    find: 'beat !== undefined && beat !== lastBeat',
    replace: 'beat !== undefined',
  },
  {
    id: 'mcp.resume.elsewhere',
    file: 'api/src/mcp/stream/attend.ts',
    find: 'if (seq <= delivered) return;',
    replace: '',
  },
  {
    id: 'mcp.resume.elsewhere',
    file: 'api/src/mcp/stream/replays.ts',
    find: 'read(kept, after, createRelay(parts, kept.place, attempt)),',
    replace: 'read(kept, after + attempt.length, createRelay(parts, kept.place, attempt)),',
  },
  {
    id: 'mcp.streams.slow-reader',
    file: 'api/src/mcp/stream/messageStream.ts',
    find: 'if (full && replaced) return void res.destroy();',
    replace: '',
  },
  {
    id: 'mcp.resume.bounded',
    file: 'api/src/mcp/stream/relay.ts',
    find: 'while (!unread) {',
    replace: 'for (;;) {',
  },
  {
    id: 'mcp.resume.bounded',
    file: 'api/src/mcp/stream/replays.ts',
    find: 'kept.cancelWant = turns(kept.place.principal, () =>',
    replace: 'kept.cancelWant = ((_: string, work: () => void) => (work(), () => undefined))(attempt, () =>',
  },
  {
    id: 'mcp.resume.bounded',
    file: 'api/src/mcp/stream/replays.ts',
    find: ' || sumOf(kept) > most.ownBytes',
    replace: '',
  },
  {
    id: 'mcp.resume.too-large',
    file: 'api/src/mcp/stream/replays.ts',
    find: 'kept.events.at(-1)?.[0] !== seq',
    replace: 'false',
  },
  {
    id: 'mcp.resume.owner',
    file: 'api/src/mcp/stream/eventIds.ts',
    find: "field: 'id', binding: [key] };",
    replace: "field: 'id', binding: [key.slice(99)] };",
  },
  {
    id: 'mcp.session.one-stream',
    file: sessionStreams,
    find: '(name !== undefined && claimed && reader !== name)',
    replace: '(name === reader + reader)',
  },
  {
    id: 'mcp.session.one-stream',
    file: sessionStreams,
    find: '.catch(() => finish(open, member))',
    replace: '.catch(() => undefined)',
  },
  {
    id: 'mcp.session.streams-end',
    file: sessionStreams,
    find: 'if (ended || (name',
    replace: 'if ((name',
  },
  {
    id: 'mcp.session.streams-end',
    file: sessionStreams,
    find: '.catch(() => later(key))',
    replace: '.catch(() => undefined)',
  },
  {
    id: 'mcp.session.ended',
    file: 'api/src/mcp/session/sessionStates.ts',
    find: 'if (begun !== epoch) return state;',
    replace: '',
  },
  {
    id: 'mcp.session.words',
    file: mailbox,
    find: 'if (await cache.delete(at)) this.hear(word);',
    replace: 'this.hear(word);\n    await cache.delete(at);',
  },
  {
    id: 'mcp.session.words',
    file: mailbox,
    find: 'this.#again = true;\n    if (this.#looking) return;',
    replace: 'if (this.#looking) return;\n    this.#again = true;',
  },
  {
    id: 'relay.watch.tenant',
    file: 'packages/gateway/src/toolcall/watchServer.ts',
    find: ' && now.tenant === server.tenant',
    replace: '',
  },
  {
    id: 'relay.watch.independent',
    file: feed,
    find: 'all.find(hears) ?? all[0]',
    replace: 'all[0]',
  },
  {
    id: 'relay.watch.bounded',
    file: feed,
    find: 'own > LONGEST_OF_ONE || ',
    replace: '',
  },
  {
    id: 'relay.watch.bounded',
    file: feed,
    find: 'if (left >= 1) {',
    replace: 'if (left >= 0) {',
  },
  {
    id: 'relay.watch.independent',
    file: feed,
    find: '(standing?.by === watcher && !shared)',
    replace: 'standing?.by === watcher',
  },
  {
    id: 'relay.watch.independent',
    file: feed,
    find: 'for (const watcher of whom.slice(0, AT_ONCE)) {',
    replace: 'for (const watcher of whom) {',
  },
  {
    id: 'relay.watch.independent',
    file: feed,
    find: 'else later(false);',
    replace: 'else later();',
  },
  {
    id: 'mcp.streams.slow-reader',
    file: 'api/src/mcp/stream/messageStream.ts',
    find: '      catchUp();',
    replace: '',
  },
  {
    id: 'mcp.streams.slow-reader',
    file: 'api/src/mcp/stream/messageStream.ts',
    find: 'const cancel = clock.timer(MOST_UNREAD * KEEP_ALIVE_MS, () => res.destroy());',
    replace: 'const cancel = () => undefined;',
  },
];
