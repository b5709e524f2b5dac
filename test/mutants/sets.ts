import type { Mutant } from '../mutants.ts';

const folder = 'packages/gateway/src/sets';
const port = 'packages/gateway/src/ports';
const stores = 'packages/stores/src';

export const sets: readonly Mutant[] = [
  {
    id: 'sets.saved.kept',
    file: `${folder}/saveSets.ts`,
    find: "  if (errors.length > 0) throw new GatewayError('SET_INVALID', { errors });\n",
    replace: '',
  },
  {
    id: 'sets.sealed.at-rest',
    file: `${folder}/sealedRuns.ts`,
    find: 'titleSealed: keyring.seal(JSON.stringify(title), runTitleContext(run)),',
    replace: 'titleSealed: JSON.stringify([title, runTitleContext(run)]),',
  },
  {
    id: 'sets.sealed.tampered',
    file: `${port}/sets.ts`,
    find: 'binding: [id]',
    replace: 'binding: [id.slice(0, 0)]',
  },
  {
    id: 'sets.sealed.tampered',
    file: `${port}/sets.ts`,
    find: 'principal: `user:${owner}`',
    replace: 'principal: owner.slice(0, 0)',
  },
  {
    id: 'sets.sealed.tampered',
    file: `${port}/runs.ts`,
    find: 'principal: `user:${userId}`',
    replace: 'principal: userId.slice(0, 0)',
  },
  {
    id: 'sets.sealed.tampered',
    file: `${port}/runs.ts`,
    find: 'binding: [setId, id]',
    replace: 'binding: [setId.slice(0, 0), id]',
  },
  {
    id: 'sets.sealed.tampered',
    file: `${port}/runs.ts`,
    find: "return { ...placeOf(run), field: 'title' };",
    replace: "return { ...placeOf(run), field: 'run' };",
  },
  {
    id: 'sets.access.alike',
    file: 'packages/gateway/src/saved/findSaved.ts',
    find: "  if (!grants(bits, 'VIEW')) return null;\n",
    replace: '',
  },
  {
    id: 'sets.access.no-block',
    file: `${folder}/readyToRun.ts`,
    find: '  if (runs) return;\n',
    replace: '  if (runs || !runs) return;\n',
  },
  {
    id: 'sets.run.pointer',
    file: `${folder}/stepOutput.ts`,
    find: "if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;",
    replace: "if (typeof value !== 'object' || value === null) return undefined;",
  },
  {
    id: 'sets.run.pointer',
    file: `${folder}/stepOutput.ts`,
    find: "part.replaceAll('~1', '/').replaceAll('~0', '~')",
    replace: 'part',
  },
  {
    id: 'sets.run.own-only',
    file: `${stores}/sqlite/runs.ts`,
    find: "const OWN = 'tenant = ? AND userId = ?';",
    replace: "const OWN = 'tenant = ? AND length(?) > 0';",
  },
  {
    id: 'sets.run.missing',
    file: `${folder}/setRuns.ts`,
    find: '      requireRunnable(check);\n      const steps',
    replace: '      const steps',
  },
  {
    id: 'sets.run.decided',
    file: `${folder}/checkSet.ts`,
    find: "  if (errors.length > 0) throw new GatewayError('BLOCK_INPUTS_INVALID', { errors });\n",
    replace: '',
  },
  {
    id: 'sets.run.seen',
    file: `${folder}/setRuns.ts`,
    find: '      requireVersion(ifMatch, set.version);\n',
    replace: '      requireVersion(ifMatch?.slice(0, 0) && ifMatch, set.version);\n',
  },
  {
    id: 'sets.run.seen',
    file: `${folder}/attemptStep.ts`,
    find: 'seen === undefined ? undefined : etagOf(seen)',
    replace: 'seen === undefined ? etagOf(0) : undefined',
  },
  {
    id: 'sets.run.seen',
    file: `${folder}/readyToRun.ts`,
    find: "    if (blockVersion !== version) throw new GatewayError('RUN_BLOCK_CHANGED');\n",
    replace: '',
  },
  {
    id: 'sets.run.seen',
    file: `${folder}/setRuns.ts`,
    find: '      requireSeen(check, blocks);\n',
    replace: '      requireSeen(check, {});\n',
  },
  {
    id: 'sets.run.failed',
    file: `${folder}/attemptStep.ts`,
    find: "'failed' : 'succeeded', mayGoOn: false, result };",
    replace: "'failed' : 'succeeded', mayGoOn: true, result };",
  },
  {
    id: 'sets.run.uncertain',
    file: `${folder}/setRuns.ts`,
    find: 'if (next && isUncertain(next) && !(await maySend(asking, next))) {',
    replace: 'if (next && isUncertain(next) && !(await maySend(asking, next)) && !next) {',
  },
  {
    id: 'sets.run.uncertain',
    file: `${folder}/attemptStep.ts`,
    find: "    if (outcome === 'unknown') {",
    replace: "    if (outcome === 'failed') {",
  },
  {
    id: 'sets.run.interrupted',
    file: `${folder}/setRuns.ts`,
    find: "return state === 'running' || state === 'uncertain';",
    replace: "return state === 'uncertain';",
  },
  {
    id: 'sets.run.interrupted',
    file: `${folder}/runJob.ts`,
    find: '    await write({ steps });\n    listener?.step(stepView(fresh));',
    replace: '    listener?.step(stepView(fresh));',
  },
  {
    id: 'sets.run.once',
    file: `${folder}/setRuns.ts`,
    find: "if (!lease) throw new GatewayError('RUN_NOT_RESUMABLE', { detail: 'This run is under way.' });\n    return lease;",
    replace:
      "return lease ?? { key: '', owner: '', purpose: 'run', extend: async () => true, release: async () => true };",
  },
  {
    id: 'sets.run.cancel',
    file: `${folder}/runJob.ts`,
    find: "      else if (current.isCancelling) end('cancelled');\n",
    replace: '',
  },
  {
    id: 'sets.run.cancel',
    file: `${folder}/setRuns.ts`,
    find: "if (state !== 'uncertain' && !isResumable(run, state)) throw new GatewayError('RUN_NOT_RESUMABLE');",
    replace: '',
  },
  {
    id: 'sets.run.sign-in',
    file: `${folder}/runJob.ts`,
    find: 'for (let at = run.done; at < run.steps.length; at += 1) {',
    replace: 'for (let at = 0; at < run.steps.length; at += 1) {',
  },
  {
    id: 'sets.run.key',
    file: `${folder}/runnerOf.ts`,
    find: 'if (!(await stands(parts, principal.by)))',
    replace: 'if (since < 0)',
  },
  {
    id: 'sets.run.account',
    file: `${folder}/runnerOf.ts`,
    find: 'if (!isTheirs || (user.signedOutAt ?? -1) >= since)',
    replace: 'if (!isTheirs && since < 0)',
  },
  {
    id: 'sets.run.v08',
    file: `${folder}/checkSet.ts`,
    find: 'checkBlock(parts, { ...inbound, credential }, block, { given, promised })',
    replace:
      'checkBlock(parts, { ...inbound, credential: credential?.slice(0, 0) && credential }, block, { given, promised })',
  },
  {
    id: 'sets.run.never-another',
    file: 'packages/gateway/src/credentials/chosenCredential.ts',
    find: 'const place = JSON.stringify([principal.tenant, holder, serverId]);\n      const found',
    replace: 'const place = JSON.stringify([principal.tenant, serverId]);\n      const found',
  },
  {
    id: 'sets.run.bounds',
    file: `${folder}/runJob.ts`,
    find: 'const isLost = size > LARGEST_RESULT || others + size > LARGEST_RESULTS;',
    replace: 'const isLost = size > LARGEST_RESULT * 99 || others + size > LARGEST_RESULTS * 99;',
  },
  {
    id: 'sets.run.lost',
    file: `${folder}/lostRuns.ts`,
    find: "if (run?.state === 'running') await runs.replace(await stopped(run));",
    replace: "if (run?.state === 'waiting') await runs.replace(await stopped(run));",
  },
  {
    id: 'sets.run.limit',
    file: `${folder}/lostRuns.ts`,
    find: "  throw new GatewayError('RUN_LIMIT');",
    replace: '  return resumed;',
  },
  {
    id: 'sets.run.limit',
    file: `${stores}/sqlite/runs.ts`,
    find: "['n']) >= most) return 'full';",
    replace: "['n']) > most + 99) return 'full';",
  },
  {
    id: 'stores.runs.apart',
    file: `${stores}/sqlite/runs.ts`,
    find: "const OWN = 'tenant = ? AND userId = ?';",
    replace: "const OWN = 'tenant = ? AND length(?) > 0';",
  },
  {
    id: 'stores.runs.apart',
    file: `${stores}/memory/runs.ts`,
    find: 'return run?.tenant === tenant && run.userId === userId ? run : undefined;',
    replace: 'return run?.tenant === tenant && userId !== "" ? run : undefined;',
  },
  {
    id: 'stores.runs.apart',
    file: `${stores}/mongo/runs.ts`,
    find: "recordOrNull('runs', await gate.run(() => runs.findOne({ _id: id, tenant, userId }).lean().exec())),",
    replace:
      "recordOrNull('runs', await gate.run(() => runs.findOne({ _id: id, tenant }).lean().exec())) ?? (userId ? null : null),",
  },
  {
    id: 'stores.runs.version',
    file: `${stores}/memory/runs.ts`,
    find: "      if (current.version !== seen) return 'version_conflict';\n",
    replace: '',
  },
  {
    id: 'stores.runs.limits',
    file: `${stores}/mongo/runs.ts`,
    find: 'if ((await running(tenant, userId)) <= most) return',
    replace: 'if ((await running(tenant, userId)) >= 0) return',
  },
  {
    id: 'stores.rotate.whole',
    file: `${port}/collections.ts`,
    find: "[{ field: 'sealed', value: set.sealed, context: setContext(set) }]",
    replace: '(set.id, [])',
  },
];
