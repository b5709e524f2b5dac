import type { Mutant } from '../mutants.ts';

const list = 'packages/gateway/src/catalog/listAll.ts';
const names = 'packages/gateway/src/catalog/toolNames.ts';
const routes = 'packages/gateway/src/catalog/publicNames.ts';
const lists = 'packages/gateway/src/catalog/catalog.ts';
const holders = 'packages/gateway/src/catalog/holders.ts';
const tools = 'packages/gateway/src/catalog/toolList.ts';
const interned = 'packages/gateway/src/catalog/internedLists.ts';
const ourMeta = 'packages/gateway/src/shaping/withoutOurMeta.ts';
const stored = 'packages/gateway/src/registry/storedServers.ts';
const places = 'packages/gateway/src/registry/valuePlaces.ts';
const mirror = 'packages/gateway/src/catalog/mirrorHeaders.ts';
const forUser = 'packages/gateway/src/catalog/listForUser.ts';
const each = 'packages/gateway/src/catalog/eachServer.ts';

export const catalog: readonly Mutant[] = [
  {
    id: 'catalog.slow-server',
    file: each,
    find: 'await within(clock, deadlineMs, loading, () => timedOut(late))',
    replace: 'await loading',
  },
  { id: 'catalog.slow-server', file: each, find: '  late.abort(error);\n', replace: '' },
  {
    id: 'catalog.pages.budgets',
    file: list,
    find: "if (cursors.has(read.next)) return stopped('cursor');",
    replace: '',
  },
  {
    id: 'catalog.pages.budgets',
    file: list,
    find: "if (page === most.pages) return stopped('pages');",
    replace: '',
  },
  {
    id: 'catalog.pages.budgets',
    file: list,
    find: "if (bytes > most.bytes) return stopped('bytes');",
    replace: '',
  },
  { id: 'catalog.pages.budgets', file: list, find: 'read.items.slice(0, room)', replace: 'read.items' },
  {
    id: 'catalog.pages.full',
    file: list,
    find: "if (items.length === most.items) return stopped('items');",
    replace: '',
  },
  { id: 'catalog.pages.hanging', file: list, find: '      left.abort(error);\n', replace: '' },
  {
    id: 'catalog.pages.claims-of-others',
    file: list,
    find: "if (era === 'legacy' && !isObject(",
    replace: 'if (!isObject(',
  },
  {
    id: 'catalog.pages.claims-of-others',
    file: list,
    find: 'if (page === 1 && mayLack && isNotOffered(error)) return none;',
    replace: '',
  },
  {
    id: 'catalog.pages.leaves-nothing',
    file: list,
    find: "    signal.removeEventListener('abort', leave);\n",
    replace: '',
  },
  {
    id: 'shaping.our-meta',
    file: list,
    find: '.map(withoutOurMeta)',
    replace: '',
  },
  {
    id: 'shaping.our-meta',
    file: 'packages/gateway/src/toolcall/callUpstream.ts',
    find: 'answerWithoutOurMeta(told)',
    replace: 'told',
  },
  {
    id: 'shaping.our-meta',
    file: ourMeta,
    find: '{ result, json: undefined }',
    replace: '{ result, json: answer.json }',
  },
  {
    id: 'catalog.tools.dropped-told',
    file: tools,
    find: 'if (dropped > MOST_DROPPED_TOLD) continue;',
    replace: '',
  },
  {
    id: 'catalog.memory.bytes',
    file: interned,
    find: 'while (byServer.size > 0 && total + bytes > mostBytes) makeRoom();',
    replace: '',
  },
  {
    id: 'catalog.memory.bytes',
    file: interned,
    find: 'bytesInMemory(content)',
    replace: 'text.length',
  },
  {
    id: 'catalog.memory.bytes',
    file: interned,
    find: '(other[1] > most[1] ? other : most)',
    replace: '(other[1] < most[1] ? other : most)',
  },
  {
    id: 'catalog.bare.kept',
    file: lists,
    find: 'if (holder.held?.list) return holder.held.list;',
    replace: '',
  },
  {
    id: 'catalog.bare.kept',
    file: lists,
    find: '    holder.listOrder = 0;\n',
    replace: '    holder.listOrder = order;\n',
  },
  {
    id: 'catalog.bare.kept',
    file: lists,
    find: 'if (order < holder.validFrom) return held.list;',
    replace: '',
  },
  {
    id: 'registry.stored.values-stay-put',
    file: stored,
    find: '      if (moved) await forgetValues(tenant, id);\n      const outcome',
    replace: '      const outcome',
  },
  {
    id: 'registry.stored.values-stay-put',
    file: stored,
    find: '      if (moved) await forgetValues(tenant, id);\n      await tell(id);',
    replace: '      await tell(id);',
  },
  {
    id: 'registry.stored.values-stay-put',
    file: stored,
    find: "    await changes.publish({ topic: 'variables', id: '*' });\n",
    replace: '',
  },
  { id: 'registry.stored.values-stay-put', file: places, find: 'addressOf(url), ', replace: '' },
  {
    id: 'registry.stored.values-stay-put',
    file: places,
    find: 'parseUrl(url)?.href ?? url',
    replace: 'new URL(url).origin',
  },
  { id: 'registry.stored.values-stay-put', file: places, find: ' filled(headers), ', replace: ' ' },
  {
    id: 'registry.stored.values-stay-put',
    file: places,
    find: ', Object.entries(place).sort()',
    replace: '',
  },
  {
    id: 'catalog.pages.hanging',
    file: list,
    find: 'page === 1 || options.signal.aborted',
    replace: 'page === 1',
  },
  {
    id: 'catalog.names.unambiguous',
    file: names,
    find: 'if (name.includes(BETWEEN, name.indexOf(BETWEEN) + 1)) return undefined;',
    replace: '',
  },
  {
    id: 'catalog.names.unambiguous',
    file: names,
    find: 'name.indexOf(BETWEEN) + 1',
    replace: 'name.indexOf(BETWEEN) + BETWEEN.length',
  },
  {
    id: 'catalog.names.unambiguous',
    file: names,
    find: 'if (/_[0-9a-f]{8,}$/.test(name)) return undefined;',
    replace: '',
  },
  {
    id: 'catalog.names.unambiguous',
    file: names,
    find: '.update(JSON.stringify([serverId, tool]))',
    replace: '.update(JSON.stringify([tool]))',
  },
  {
    id: 'catalog.names.unambiguous',
    file: names,
    find: 'clashes.length === 0 ||',
    replace: 'clashes.length >= 0 ||',
  },
  { id: 'catalog.names.routed', file: routes, find: 'several ||= found !== undefined;', replace: '' },
  { id: 'catalog.names.routed', file: forUser, find: 'renamed.get(tool) ?? tool', replace: 'tool' },
  {
    id: 'catalog.tools.hostile',
    file: tools,
    find: "if (JSON.stringify(definition).length > LARGEST_TOOL) return 'larger than 256 KiB';",
    replace: '',
  },
  {
    id: 'catalog.tools.kept',
    file: tools,
    find: 'inputSchema: deepFreeze(schemaOf(definition)),',
    replace: 'inputSchema: { ...schemaOf(definition), properties: {} },',
  },
  {
    id: 'catalog.mirror.headers',
    file: mirror,
    find: 'return plain ? text :',
    replace: 'return text !== "" ? text :',
  },
  { id: 'catalog.mirror.headers', file: mirror, find: '|| !Object.hasOwn(value, key)', replace: '' },
  { id: 'catalog.mirror.invalid', file: mirror, find: '!TOKEN.test(header)', replace: "header === ''" },
  {
    id: 'catalog.mirror.invalid',
    file: mirror,
    find: 'if (!reachable || path.length === 0)',
    replace: 'if (path.length === 0)',
  },
  {
    id: 'catalog.load.one-listing',
    file: lists,
    find: 'const flight = inAir ?? start(server, holder, list);',
    replace: 'const flight = start(server, holder, list);',
  },
  {
    id: 'catalog.holders.isolated',
    file: lists,
    find: '  return holderKey;\n',
    replace: "  return 'all';\n",
  },
  {
    id: 'catalog.holders.isolated',
    file: lists,
    find: "if (holderKey === '')",
    replace: "if (holderKey === 'nobody')",
  },
  {
    id: 'catalog.holders.isolated',
    file: holders,
    find: 'JSON.stringify([tenant, id, scope])',
    replace: 'JSON.stringify([id, scope])',
  },
  {
    id: 'catalog.incomplete.kept',
    file: lists,
    find: 'if (known?.complete && holder.listOrder > 0 && !listed.complete) {',
    replace: 'if (holder.listOrder < 0) {',
  },
  {
    id: 'catalog.order.newest-wins',
    file: lists,
    find: 'if (known && order < holder.listOrder) return known;',
    replace: '',
  },
  {
    id: 'catalog.order.previous-connection',
    file: lists,
    find: 'if (order < holder.validFrom) return fresh;',
    replace: '',
  },
  {
    id: 'catalog.order.previous-connection',
    file: lists,
    find: 'if (flight.order >= holder.validFrom || round === MOST_ROUNDS) return found;',
    replace: 'return found;',
  },
  {
    id: 'catalog.order.previous-connection',
    file: lists,
    find: '        holder.held = undefined;\n',
    replace: '',
  },
  {
    id: 'catalog.changed.not-lost',
    file: lists,
    find: 'if (order < holder.changedAt) {',
    replace: 'if (order < 0) {',
  },
  {
    id: 'catalog.changed.coalesced',
    file: lists,
    find: 'if (now - loadedAt < settleMs) return known;',
    replace: '',
  },
  {
    id: 'catalog.age.stale-on-error',
    file: lists,
    find: 'refresh !== true && isPassing(error)',
    replace: 'refresh !== true',
  },
  {
    id: 'catalog.age.missing-tool',
    file: lists,
    find: 'return now < wait ? known : undefined;',
    replace: 'return undefined;',
  },
  {
    id: 'catalog.revision.gone',
    file: holders,
    find: 'if (announced !== undefined && announced !== server.revision) return undefined;',
    replace: '',
  },
  {
    id: 'catalog.revision.gone',
    file: holders,
    find: '        entry.live = false;\n        byKey.delete(key);\n',
    replace: '        byKey.delete(key);\n',
  },
  {
    id: 'catalog.memory.shared',
    file: interned,
    find: 'if (present && isFilled(present)) return present;',
    replace: '',
  },
  { id: 'catalog.memory.bounded', file: holders, find: 'if (count() >= most) makeRoom();', replace: '' },
  {
    id: 'catalog.memory.bounded',
    file: lists,
    find: 'holder.used = holder.held !== undefined;',
    replace: 'holder.used = true;',
  },
  {
    id: 'shaping.no-base64',
    file: 'packages/gateway/src/shaping/structuredText.ts',
    find: 'JSON.stringify(structured, withoutBase64)',
    replace: 'JSON.stringify(structured)',
  },
  {
    id: 'shaping.hostile',
    file: 'packages/gateway/src/shaping/contentBlock.ts',
    find: '{ name: oneLine(name, 256) }',
    replace: '{ name }',
  },
  {
    id: 'shaping.errors',
    file: 'packages/gateway/src/shaping/shapeResult.ts',
    find: "result['isError'] === true ? () => undefined : anthropicImage",
    replace: 'anthropicImage',
  },
  {
    id: 'catalog.load.given-up',
    file: 'packages/gateway/src/toolcall/inspectServer.ts',
    find: '{ ...options, signal: shared }',
    replace: '{ ...options, signal }',
  },
  {
    id: 'catalog.order.previous-credential',
    file: 'packages/gateway/src/toolcall/callTool.ts',
    find: '(ready = prepare(parts, server, { ...inbound, signal }, { purse }))',
    replace: '(ready ??= prepare(parts, server, { ...inbound, signal }, { purse }))',
  },
  {
    id: 'catalog.order.previous-credential',
    file: 'packages/gateway/src/toolcall/callTool.ts',
    find: '(ready = prepare(parts, server, { ...inbound, signal }, { purse }))',
    replace:
      '((ready ??= prepare(parts, server, { ...inbound, signal }, { purse })), prepare(parts, server, inbound))',
  },
  {
    id: 'catalog.order.previous-credential',
    file: 'packages/gateway/src/toolcall/listTools.ts',
    find: '      await obtain();\n      return await loadTools(parts, allowed, obtain, asking);',
    replace:
      '      const ready = obtain();\n      return await loadTools(parts, allowed, () => ready, asking);',
  },
  {
    id: 'catalog.order.previous-credential',
    file: 'packages/gateway/src/reinit/reinitialize.ts',
    find: 'const tools = await loadTools(parts, server, obtain, inbound, {',
    replace:
      'const ready = obtain();\n    const tools = await loadTools(parts, server, () => ready, inbound, {',
  },
];
