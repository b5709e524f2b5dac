import type { Mutant } from '../mutants.ts';

const folder = 'packages/gateway/src/configure';
const create = `${folder}/createServer.ts`;
const judgeNew = `${folder}/judgeNew.ts`;
const judgeChange = `${folder}/judgeChange.ts`;
const bound = 'packages/gateway/src/registry/secretBindings.ts';
const view = `${folder}/serverView.ts`;
const canonical = 'packages/gateway/src/registry/canonical.ts';
const follow = 'packages/gateway/src/following/follow.ts';

export const configure: readonly Mutant[] = [
  {
    id: 'follow.race',
    file: follow,
    find: 'if (!running) return begin();',
    replace: 'if (running) return running;\n    if (!stopped) return begin();',
  },
  {
    id: 'follow.race',
    file: follow,
    find: 'heard = noticesBefore;',
    replace: 'heard = notices;',
  },
  { id: 'follow.outage', file: follow, find: '      set(nothing);\n', replace: '' },
  { id: 'follow.current', file: follow, find: 'notice.topic !== topic || stopped', replace: 'stopped' },
  {
    id: 'configure.create.permission',
    file: `${folder}/enterWrite.ts`,
    find: "  roles.requirePermission(caller, 'CREATE');\n",
    replace: '',
  },
  {
    id: 'configure.create.permission',
    file: `${folder}/enterWrite.ts`,
    find: "  roles.requirePermission(caller, 'USE');\n",
    replace: '',
  },
  {
    id: 'configure.create.permission',
    file: create,
    find: 'requireOboPermission(parts, await enterWrite(parts, principal), {}, definition)',
    replace: 'requireOboPermission(parts, principal, {}, definition)',
  },
  {
    id: 'configure.obo.create',
    file: judgeNew,
    find: '  requireOboPermission(parts, caller, {}, definition);\n',
    replace: '',
  },
  {
    id: 'configure.create.limit',
    file: create,
    find: '        requireRoom(parts, owner.author, roster);\n        await stillAlone();\n',
    replace: '        await stillAlone();\n',
  },
  {
    id: 'configure.create.name',
    file: create,
    find: 'isTaken(wanted) || isOurs(wanted)',
    replace: 'isTaken(wanted) && isOurs(wanted)',
  },
  {
    id: 'configure.create.inspected',
    file: `${folder}/requireReachable.ts`,
    find: '!usesObo(settings) && !needsOAuth(settings) && ',
    replace: '',
  },
  {
    id: 'configure.create.address',
    file: `${folder}/requireReachable.ts`,
    find: '  if (address !== undefined) await parts.checkAddress(address);\n',
    replace: '',
  },
  {
    id: 'configure.input.refused',
    file: `${folder}/readInput.ts`,
    find: '  if (tooLarge.length > 0) throw invalid(tooLarge);\n',
    replace: '',
  },
  {
    id: 'configure.obo.lock',
    file: `${folder}/requireOboPermission.ts`,
    find: 'if (!hasObo(before) && !hasObo(after)) return;',
    replace: 'if (!hasObo(after)) return;',
  },
  {
    id: 'configure.obo.lock',
    file: `${folder}/requireOboPermission.ts`,
    find: 'if (!hasObo(before) && !hasObo(after)) return;',
    replace: 'if (!hasObo(before)) return;',
  },
  {
    id: 'configure.obo.lock',
    file: canonical,
    find: "new Set(['title', 'description', 'iconPath'])",
    replace: "new Set(['title', 'description', 'iconPath', 'headers'])",
  },
  {
    id: 'configure.obo.sequences',
    file: judgeChange,
    find: '  requireOboPermission(parts, caller, before, definition);\n',
    replace: '',
  },
  {
    id: 'configure.obo.same',
    file: 'packages/gateway/src/registry/stableText.ts',
    find: '    .sort(([a], [b]) => (a < b ? -1 : 1))\n',
    replace: '',
  },
  {
    id: 'configure.obo.same',
    file: 'packages/gateway/src/registry/storedServers.ts',
    find: '{ ...securityFields(known.definition), ...Object.fromEntries(free) }',
    replace: 'definition',
  },
  {
    id: 'configure.obo.grant',
    file: 'packages/gateway/src/registry/storedServers.ts',
    find: 'secured: { securedBy: by,',
    replace: 'secured: { ...(!known && { securedBy: by }),',
  },
  {
    id: 'configure.isolation',
    file: `${folder}/findEditable.ts`,
    find: '  if (!acl.sees(principal, server) && bits === 0) throw notFound();\n  if (!grants(bits, bit)) throw',
    replace: '  if (bits < 0) throw',
  },
  {
    id: 'configure.isolation',
    file: `${folder}/viewServer.ts`,
    find: "  if (!acl.sees(principal, server) && !grants(bits, 'VIEW')) return null;\n",
    replace: '',
  },
  {
    id: 'configure.change.permission',
    file: `${folder}/findEditable.ts`,
    find: '  if (!acl.sees(principal, server) && bits === 0) throw notFound();\n',
    replace: '',
  },
  {
    id: 'configure.change.permission',
    file: `${folder}/findEditable.ts`,
    find: '    if (!acl.sees(principal, known) && acl.manageBits(principal, known) === 0) throw notFound();\n',
    replace: '',
  },
  {
    id: 'configure.change.version',
    file: judgeChange,
    find: '  requireMatch(ifMatch, stored.version);\n',
    replace: '',
  },
  {
    id: 'configure.change.version',
    file: `${folder}/ifMatch.ts`,
    find: '!versions.includes(version)',
    replace: '!versions.some((named) => named >= version)',
  },
  {
    id: 'configure.secrets.bound',
    file: judgeChange,
    find: '  requireSameBinding(kept, before, definition);\n',
    replace: '',
  },
  { id: 'configure.secrets.bound', file: bound, find: 'headers: place,', replace: 'headers: [],' },
  { id: 'configure.secrets.bound', file: bound, find: "    'oauth.token_url',\n", replace: '' },
  { id: 'configure.secrets.bound', file: bound, find: ", 'apiKey.custom_header'", replace: '' },
  {
    id: 'configure.secrets.kept',
    file: canonical,
    find: 'if (sets.has(key) && Array.isArray(value))',
    replace: 'if (sets.has(key) && !Array.isArray(value))',
  },
  {
    id: 'configure.remove.everything',
    file: `${folder}/removeServer.ts`,
    find: '    await parts.grants.endAll(tenant, server);\n',
    replace: '',
  },
  {
    id: 'configure.remove.everything',
    file: `${folder}/removeServer.ts`,
    find: '    await parts.acl.removeServer(tenant, id);\n',
    replace: '',
  },
  {
    id: 'configure.remove.everything',
    file: 'packages/gateway/src/registry/storedServers.ts',
    find: '      await forgetValues(tenant, id);\n      const removed = await servers.remove(tenant, id);\n      await forgetValues(tenant, id);\n',
    replace: '      const removed = await servers.remove(tenant, id);\n',
  },
  {
    id: 'configure.remove.version',
    file: `${folder}/removeServer.ts`,
    find: '    requireMatch(ifMatch, version);\n',
    replace: '',
  },
  {
    id: 'configure.remove.version',
    file: 'packages/gateway/src/registry/storedServers.ts',
    find: "if (outcome !== 'replaced') return outcome === 'missing' ? 'missing' : 'version_conflict';",
    replace: '',
  },
  {
    id: 'configure.remove.finished',
    file: `${folder}/findEditable.ts`,
    find: '  if (!isFinishing) requireBit',
    replace: '  requireBit',
  },
  {
    id: 'configure.remove.finished',
    file: `${folder}/removeServer.ts`,
    find: '    if (isWithdrawn) return found;\n',
    replace: '',
  },
  {
    id: 'configure.remove.finished',
    file: 'packages/gateway/src/registry/storedDefinition.ts',
    find: 'return { [WITHDRAWN]: definition };',
    replace: 'return definition;',
  },
  {
    id: 'configure.view.redacted',
    file: view,
    find: "...(isEditor && typeof url === 'string' && { url }),",
    replace: "...(typeof url === 'string' && { url }),",
  },
  {
    id: 'configure.view.redacted',
    file: view,
    find: 'pick(oauth, isEditor ? oauthForEditors : oauthForViewers)',
    replace: 'pick(oauth, oauthForEditors)',
  },
  {
    id: 'configure.view.redacted',
    file: view,
    find: '.filter(([key]) => keys.includes(key))',
    replace: '.filter(([key]) => keys.length > 0 && key !== "")',
  },
  {
    id: 'configure.view.visible',
    file: `${folder}/viewServer.ts`,
    find: "  if (!acl.sees(principal, server) && !grants(bits, 'VIEW')) return null;\n",
    replace: '',
  },
];
