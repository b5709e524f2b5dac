import type { Mutant } from '../mutants.ts';

const folder = 'packages/gateway/src/drafts';
const memory = 'packages/stores/src/memory/drafts.ts';
const sqlite = 'packages/stores/src/sqlite/drafts.ts';
const mongo = 'packages/stores/src/mongo/drafts.ts';
const clients = 'packages/gateway/src/credentials/oauth/registration/clients.ts';

export const drafts: readonly Mutant[] = [
  // The address is judged before anything is sent, and the door out judges it again: each is enough by itself, so what both ask changes.
  ...['drafts.discover.dialled', 'drafts.discover.policy'].map((id) => ({
    id,
    file: 'packages/egress/src/judge.ts',
    find: "if (!range.openable || !opened) throw new EgressError('private_address', host);",
    replace: 'void opened;',
  })),
  {
    id: 'drafts.discover.rate',
    file: `${folder}/discoverTools.ts`,
    find: '    await countDiscovery(parts, principal);\n',
    replace: '',
  },
  {
    id: 'drafts.discover.rate',
    file: `${folder}/countDiscovery.ts`,
    find: 'JSON.stringify([tenant, userId])',
    replace: 'JSON.stringify([tenant, userId.length])',
  },
  {
    id: 'drafts.discover.permission',
    file: 'packages/gateway/src/configure/enterWrite.ts',
    find: "  roles.requirePermission(caller, 'CREATE');\n",
    replace: '',
  },
  {
    id: 'drafts.discover.no-words',
    file: `${folder}/lookFailure.ts`,
    find: '  const detail = sentences[error.code];',
    replace: '  const detail = JSON.stringify(error.detail);',
  },
  {
    id: 'drafts.discover.no-words',
    file: `${folder}/look.ts`,
    find: '    throw lookFailure(error);',
    replace: '    throw error;',
  },
  {
    id: 'drafts.discover.masked',
    file: `${folder}/discoveredTools.ts`,
    find: '  const text = mask(value, shown);',
    replace: '  const text = mask(value.slice(0, longest), shown);',
  },
  {
    id: 'drafts.discover.masked',
    file: `${folder}/discoveredTools.ts`,
    find: 'if (repeats || text.length > largest)',
    replace: 'if (text.length > largest)',
  },
  {
    id: 'drafts.discover.bounded',
    file: `${folder}/discoveredTools.ts`,
    find: '    left -= schema.size;\n',
    replace: '',
  },
  {
    id: 'drafts.secrets.nowhere',
    file: `${folder}/look.ts`,
    find: 'discoveredTools(listed, shownTo(target))',
    replace: 'discoveredTools(listed, shownTo({ ...target, headers: {} }))',
  },
  {
    id: 'drafts.secrets.nowhere',
    file: 'packages/gateway/src/toolcall/maskPresented.ts',
    find: 'worthMasking([...presented(target), ...tokens])',
    replace: 'worthMasking(presented(target))',
  },
  {
    id: 'drafts.secrets.nowhere',
    file: `${folder}/drafts.ts`,
    find: 'keyring.seal(JSON.stringify(definition), draftContext({ tenant, userId, id }))',
    replace: 'JSON.stringify([definition, keyring.seal("", draftContext({ tenant, userId, id }))])',
  },
  {
    id: 'drafts.guard.own',
    file: `${folder}/drafts.ts`,
    find: 'if (record?.userId !== userId || !isOpen(record, clock.now())) return null;',
    replace: 'if (!record || userId === "" || !isOpen(record, clock.now())) return null;',
  },
  {
    id: 'drafts.guard.expired',
    file: `${folder}/drafts.ts`,
    find: 'takenAt === null && now < expiresAt;',
    replace: 'takenAt === null && now < expiresAt + 60_000;',
  },
  {
    id: 'drafts.guard.bound',
    file: `${folder}/discoverWithDraft.ts`,
    find: 'if (stableText(draft.definition) !== stableText(definition))',
    replace: 'if (definition.url === "")',
  },
  {
    id: 'drafts.guard.issuer',
    file: 'packages/gateway/src/configure/requireReachable.ts',
    find: "const identity = { id, tenant, author, source: 'user' } as const;",
    replace: "const identity = { id, tenant, author, source: 'yaml' } as const;",
  },
  {
    id: 'drafts.guard.permission',
    file: `${folder}/drafts.ts`,
    find: "      requirePermission()(principal, 'CREATE');\n",
    replace: '',
  },
  {
    id: 'drafts.guard.browser',
    file: `${folder}/offerSignIn.ts`,
    find: "bindsBrowser: principal.by.via === 'session',",
    replace: 'bindsBrowser: false,',
  },
  {
    id: 'drafts.save.url',
    file: 'packages/gateway/src/credentials/oauth/isGrantFor.ts',
    find: '  if (target?.canonicalUrl !== canonicalUrl) return false;\n',
    replace:
      '  if (!target || canonicalUrl === "") return false;\n  if (target.canonicalUrl !== canonicalUrl) return true;\n',
  },
  {
    id: 'drafts.save.issuer',
    file: 'packages/gateway/src/credentials/oauth/isGrantFor.ts',
    find: 'if (found.as.issuer !== issuer || found.resource !== resource) return false;',
    replace:
      'if (found.as.issuer !== issuer) return true;\n    if (found.resource !== resource) return false;',
  },
  {
    id: 'drafts.save.issuer',
    file: `${folder}/keepDraft.ts`,
    find: 'id === undefined ? parts.drafts.drop(keeping.draft) : endFlows(parts, keeping.draft)',
    replace: 'endFlows(parts, keeping.draft)',
  },
  {
    id: 'drafts.save.kept',
    file: clients,
    find: 'return drafted?.clientId === clientId ? drafted : own;',
    replace: 'return own ?? (drafted?.clientId === clientId ? drafted : null);',
  },
  {
    id: 'drafts.save.kept',
    file: `${folder}/drafts.ts`,
    find: '      if (await take(draft)) await end(draft);',
    replace: '      await end(draft);',
  },
  {
    id: 'drafts.client.document',
    file: clients,
    find: "server.source === 'user'",
    replace: 'server.id !== ""',
  },
  {
    id: 'drafts.client.served',
    file: 'api/src/oauth/clientDocumentRoutes.ts',
    find: "serverOf(id)?.source === 'user' || (await isDraft(id))",
    replace: "serverOf(id)?.source === 'user' || (await isDraft(id)) || id !== ''",
  },
  {
    id: 'drafts.kept.sealed',
    file: 'packages/gateway/src/ports/drafts.ts',
    find: 'principal: `user:${userId}`, server: id,',
    replace: "principal: userId === '' ? '' : '-', server: id,",
  },
  {
    id: 'drafts.swept',
    file: `${folder}/drafts.ts`,
    find: '(await servers.find(tenant, id)) !== null',
    replace: '(await servers.find(tenant, "")) !== null',
  },
  {
    id: 'drafts.swept',
    file: `${folder}/drafts.ts`,
    find: '        if (!isServer) await grants.endLost(tenant, id);\n',
    replace: '',
  },
  {
    id: 'drafts.swept',
    file: `${folder}/drafts.ts`,
    find: '    await grants.endAll(tenant, server);\n',
    replace: '    void server;\n',
  },
  {
    id: 'stores.drafts.taken-once',
    file: memory,
    find: 'draft?.userId !== userId || draft.takenAt !== null ||',
    replace: '!draft || userId === "" || draft.takenAt !== null ||',
  },
  {
    id: 'stores.drafts.taken-once',
    file: sqlite,
    find: "'tenant = ? AND id = ? AND userId = ? AND takenAt IS NULL AND expiresAt > ?'",
    replace: "'tenant = ? AND id = ? AND length(?) > 0 AND takenAt IS NULL AND expiresAt > ?'",
  },
  {
    id: 'stores.drafts.taken-once',
    file: mongo,
    find: 'const open = { _id: id, tenant, userId, takenAt: null,',
    replace: 'const open = { _id: id, tenant, takenAt: null,',
  },
  {
    id: 'stores.drafts.expiry',
    file: sqlite,
    find: "'tenant = ? AND id = ? AND userId = ? AND takenAt IS NULL AND expiresAt > ?'",
    replace: "'tenant = ? AND id = ? AND userId = ? AND takenAt IS NULL AND expiresAt >= ?'",
  },
  {
    id: 'stores.drafts.limit',
    file: mongo,
    find: 'if ((await count(tenant, userId, createdAt)) <= most) return',
    replace: 'if (most > 0) return',
  },
];
