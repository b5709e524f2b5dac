import type { Mutant } from '../mutants.ts';

const vault = 'packages/gateway/src/credentials/vault';
const attempt = `${vault}/attempt.ts`;
const followGrants = 'packages/gateway/src/credentials/followGrants.ts';
const recover = 'packages/gateway/src/toolcall/recoverFromRefusal.ts';
const tokens = 'packages/gateway/src/credentials/oauthTokens.ts';
const keepPair = `${vault}/keepPair.ts`;

/** Pairs that could not be stored at once, and who may send what. */
export const vaultKeeping: readonly Mutant[] = [
  {
    id: 'vault.keep.at-once',
    file: keepPair,
    find: '      await putAside(unsaved);\n      throw error;',
    replace: '      aside.set(unsaved.consumed.id, unsaved);\n      throw error;',
  },
  {
    id: 'vault.keep.at-once',
    file: keepPair,
    find: '() => void putAside(unsaved));',
    replace: '() => undefined);',
  },
  {
    id: 'vault.keep.at-once',
    file: keepPair,
    find: 'if (unsaved.orphan !== undefined)\n',
    replace: 'if (unsaved.orphan === undefined)\n',
  },
  {
    id: 'vault.keep.held',
    file: attempt,
    find: 'if (await keepPair.storeNow(course.id)) return lookAgain;',
    replace: '',
  },
  {
    id: 'vault.keep.held',
    file: `${vault}/reading.ts`,
    find: 'found && shown(found)',
    replace: 'found',
  },
  {
    id: 'vault.keep.lost',
    file: keepPair,
    find: "if (saved.kind === 'superseded')\n",
    replace: "if (saved.kind === 'superseded' && saved.by !== null && saved.by.status === 'active')\n",
  },
  {
    id: 'vault.keep.lost',
    file: `${vault}/disconnect.ts`,
    find: 'const unsaved = keepPair.held(record) ?? orphan?.received;',
    replace: 'const unsaved = orphan?.received;',
  },
  {
    id: 'vault.claim.very-pair',
    file: 'packages/stores/src/credentialRules.ts',
    find: '    held.tokenSeq === tokenSeq &&\n',
    replace: '',
  },
  {
    id: 'vault.claim.doubt-seen',
    file: attempt,
    find: 'const { rtSuspect, statusAt } = claimed.record;',
    replace: 'const { rtSuspect, statusAt } = record;',
  },
  {
    id: 'vault.app.backoff',
    file: `${vault}/setbacks.ts`,
    find: 'return { id, generation: 0, tokenSeq: 0 };',
    replace: 'return { id, generation: NaN, tokenSeq: 0 };',
  },
  {
    id: 'grants.followed.elsewhere',
    file: followGrants,
    find: "id === '*' ? lookAtAll() : tryLook(id)",
    replace: 'tryLook(id)',
  },
  {
    id: 'grants.followed.elsewhere',
    file: followGrants,
    find: 'if (before !== undefined) replaced(id);',
    replace: '',
  },
  {
    id: 'grants.followed.scene',
    file: followGrants,
    find: "id === '*' ? lookAtAll() : tryLook(id)",
    replace: 'tryLook(id)',
  },
  {
    id: 'grants.followed.renewed',
    file: followGrants,
    find: 'if (record?.generation === before || generations',
    replace: 'if (generations',
  },
  {
    id: 'vault.exclusive.line',
    file: `${vault}/exclusive.ts`,
    find: 'void line.then(() => {',
    replace: 'void mine.then(() => {',
  },
  {
    id: 'vault.time.shared',
    file: `${vault}/storeTime.ts`,
    find: 'await (sampling ??= compare());',
    replace: 'if (!sampling) await (sampling = compare());',
  },
  {
    id: 'toolcall.grant.anew',
    file: recover,
    find: 'const next = isReplaced(ready) ? await anew() : ready;',
    replace: 'const next = ready;',
  },
  {
    id: 'toolcall.grant.anew',
    file: tokens,
    find: 'isReplaced = held.generation !== first.generation;',
    replace: 'isReplaced = false;',
  },
  {
    id: 'toolcall.scope.second',
    file: recover,
    find: 'throw widerScope(error, ready) ?? error;',
    replace: 'throw error;',
  },
  {
    id: 'toolcall.masked.all',
    file: tokens,
    find: 'shown.add(held.accessToken);',
    replace: 'shown.clear();\n    shown.add(held.accessToken);',
  },
  {
    id: 'vault.answer.refresh-token',
    file: `${vault}/pair.ts`,
    find: 'const isSuspect = isLost || ',
    replace: 'const isSuspect = ',
  },
  {
    id: 'vault.answer.refresh-token',
    file: 'packages/gateway/src/credentials/oauth/tokenAnswerReading.ts',
    find: 'REFRESH_TOKEN.test(value)) return',
    replace: 'TOKEN.test(value)) return',
  },
];
