import type { Mutant } from '../mutants.ts';

const folder = 'packages/gateway/src/blocks';
const saved = 'packages/gateway/src/saved';
const port = 'packages/gateway/src/ports/blocks.ts';
const memory = 'packages/stores/src/memory/owned.ts';
const sqlite = 'packages/stores/src/sqlite/owned.ts';
const mongo = 'packages/stores/src/mongo/owned.ts';

export const blocks: readonly Mutant[] = [
  {
    id: 'blocks.saved.kept',
    file: `${folder}/createBlock.ts`,
    find: 'title: request.title ?? shortened(tool.title ?? tool.name),',
    replace: 'title: shortened(tool.title ?? tool.name),',
  },
  {
    id: 'blocks.saved.fits',
    file: `${folder}/savedInputs.ts`,
    find: "if (errors.length > 0) throw new GatewayError('BLOCK_INPUTS_INVALID', { errors });",
    replace: '',
  },
  {
    id: 'blocks.saved.fits',
    file: `${folder}/savedInputs.ts`,
    find: "  '$defs',\n",
    replace: '',
  },
  {
    id: 'blocks.saved.own-tools',
    file: `${folder}/visibleTool.ts`,
    find: "if (!tool) throw new GatewayError(code ?? 'MCP_TOOL_NOT_FOUND');\n  return { server, tool };",
    replace: 'return { server, tool: tool ?? { ...tools[0]!, name: code ?? toolName } };',
  },
  {
    id: 'blocks.saved.limits',
    file: `${saved}/sealedSaved.ts`,
    find: "if (sealed.length > limits.largest) throw new GatewayError('REQUEST_TOO_LARGE');",
    replace: '',
  },
  {
    id: 'blocks.saved.limits',
    file: memory,
    find: "if (own.length >= most) return 'full';",
    replace: '',
  },
  {
    id: 'blocks.sealed.at-rest',
    file: `${saved}/sealedSaved.ts`,
    find: 'keyring.seal(JSON.stringify(content), contextOf(thing))',
    replace: 'JSON.stringify([content, contextOf(thing)])',
  },
  {
    id: 'blocks.sealed.tampered',
    file: port,
    find: 'principal: `user:${owner}`,',
    replace: 'principal: owner.slice(0, 0),',
  },
  {
    id: 'blocks.sealed.tampered',
    file: port,
    find: 'server: serverId,',
    replace: 'server: serverId.slice(0, 0),',
  },
  {
    id: 'blocks.sealed.tampered',
    file: port,
    find: 'binding: [id, tool]',
    replace: 'binding: [id, tool.slice(0, 0)]',
  },
  {
    id: 'blocks.sealed.tampered',
    file: port,
    find: 'binding: [id, tool]',
    replace: 'binding: [id.slice(0, 0), tool]',
  },
  {
    id: 'blocks.sealed.tampered',
    file: `${saved}/sealedSaved.ts`,
    find: '...kept.parse(JSON.parse(keyring.open(sealed, contextOf(record)))) };',
    replace: '...(JSON.parse(keyring.open(sealed, contextOf(record))) as K) };',
  },
  {
    id: 'blocks.access.alike',
    file: `${saved}/findSaved.ts`,
    find: "  if (!grants(bits, 'VIEW')) return null;\n",
    replace: '',
  },
  {
    id: 'blocks.access.alike',
    file: `${saved}/writeSaved.ts`,
    find: "    if (!grants(bits, 'VIEW')) throw new GatewayError(kind.notFound);\n",
    replace: '',
  },
  {
    id: 'blocks.access.bits',
    file: `${saved}/findSaved.ts`,
    find: '  if (!grants(found.bits, bit)) throw new GatewayError(shelf.kind.forbidden);\n',
    replace: '',
  },
  {
    id: 'blocks.access.bits',
    file: `${saved}/writeSaved.ts`,
    find: "    if (!grants(bits, 'DELETE')) throw new GatewayError(kind.forbidden);\n",
    replace: '',
  },
  {
    id: 'blocks.access.bits',
    file: `${saved}/shareSaved.ts`,
    find: 'mayOrphan: false, denial: kind.forbidden',
    replace: 'mayOrphan: true, denial: kind.forbidden',
  },
  {
    id: 'blocks.access.no-server',
    file: `${folder}/serverOf.ts`,
    find: "if (state !== 'available') {",
    replace: "if (state === 'gone') {",
  },
  {
    id: 'blocks.access.no-server',
    file: 'packages/gateway/src/access/acl.ts',
    find: 'return `${word}/${id}`;',
    replace: 'return id.slice(0, 0) + (word === "set" ? "set/" : "") + id;',
  },
  {
    id: 'blocks.server.id',
    file: `${folder}/createBlock.ts`,
    find: 'serverId: server.id, tool: tool.name },',
    replace: 'serverId: server.name, tool: tool.name },',
  },
  {
    id: 'blocks.server.id',
    file: 'packages/gateway/src/toolcall/callTool.ts',
    find: 'if (call.serverId !== undefined && server.id !== call.serverId)',
    replace: 'if (call.serverId !== undefined && server.id === undefined)',
  },
  {
    id: 'blocks.change.version',
    file: `${saved}/writeSaved.ts`,
    find: 'if (versions !== null && !versions.includes(version))',
    replace: 'if (versions !== null && versions.length > 99 && !versions.includes(version))',
  },
  {
    id: 'blocks.audit.told',
    file: `${folder}/runBlock.ts`,
    find: '    subject: run.id,\n',
    replace: '',
  },
  {
    id: 'blocks.audit.told',
    file: `${saved}/shareSaved.ts`,
    find: 'action: `${kind.word}.share`, subject: id',
    replace: "action: 'acl.change', subject: id",
  },
  {
    id: 'blocks.run.own-credential',
    file: `${folder}/runBlock.ts`,
    find: '  if (isMissing(missing)) throw incomplete(missing);\n',
    replace: '',
  },
  {
    id: 'blocks.run.own-credential',
    file: `${folder}/standing.ts`,
    find: 'credentialHolder(principal), id);',
    replace: "credentialHolder({ userId: principal.userId.slice(0, 0) + 'ada' }), id);",
  },
  {
    id: 'blocks.run.never-another',
    file: 'packages/gateway/src/credentials/chosenCredential.ts',
    find: 'const place = JSON.stringify([principal.tenant, holder, serverId]);\n      const found',
    replace: 'const place = JSON.stringify([principal.tenant, serverId]);\n      const found',
  },
  {
    id: 'blocks.run.author-ends',
    file: `${folder}/standing.ts`,
    find: "  if (own.length > 0) return [signIn('revoked')];\n",
    replace: '',
  },
  {
    id: 'blocks.run.v08',
    file: `${folder}/standing.ts`,
    find: "  if (label !== undefined) return [signIn('absent')];\n",
    replace: '',
  },
  {
    id: 'blocks.run.v08',
    file: 'packages/gateway/src/toolcall/obtainCredential.ts',
    find: '    label: credential,\n',
    replace: '    label: credential === undefined ? credential : undefined,\n',
  },
  {
    id: 'blocks.run.v08',
    file: `${folder}/standing.ts`,
    find: "const living = own.filter(({ status }) => status !== 'revoked');",
    replace: 'const living = own;',
  },
  {
    id: 'blocks.run.choose',
    file: `${folder}/standing.ts`,
    find: 'if (living.length !== 1 && !living.some(({ isDefault }) => isDefault)) return undefined;',
    replace: '',
  },
  {
    id: 'blocks.run.as-calls',
    file: `${folder}/standing.ts`,
    find: 'return preferred(living.map(asOwn), now);',
    replace: 'return living.find(({ isDefault }) => isDefault) ?? living[now && 0];',
  },
  {
    id: 'blocks.run.foreseen',
    file: 'packages/gateway/src/credentials/obo/subjectSource.ts',
    find: "if (!mayExchange || kind !== 'user' || login?.issuer !== issuer) return 'absent';",
    replace: 'if (!mayExchange || kind.length === 0) return undefined;',
  },
  {
    id: 'blocks.run.order',
    file: `${folder}/standing.ts`,
    find: 'choices: living.map(asChoice),\n    selected:',
    replace:
      'choices: [...living].sort((a, b) => Number(b === chosen) - Number(a === chosen)).map(asChoice),\n    selected:',
  },
  {
    id: 'blocks.run.side-by-side',
    file: 'packages/gateway/src/credentials/chosenCredential.ts',
    find: 'return label === undefined ? key : named(own, label);',
    replace: 'return key ?? named(own, label ?? key);',
  },
  {
    id: 'blocks.run.standing',
    file: `${folder}/standing.ts`,
    find: "return isOver && !hasRefreshToken ? 'expired_no_refresh' : undefined;",
    replace: 'return undefined;',
  },
  {
    id: 'blocks.run.standing',
    file: `${folder}/standing.ts`,
    find: 'mayGoWithout: own.length === 0 && mayGoBare(server),',
    replace: 'mayGoWithout: mayGoBare(server),',
  },
  {
    id: 'blocks.run.missing',
    file: `${folder}/runBlock.ts`,
    find: 'inputs: missingInputs(block.id, schema, args),',
    replace: 'inputs: missingInputs(block.id, schema, { ...schema, ...args }).slice(0, 0),',
  },
  {
    id: 'blocks.run.missing',
    file: `${folder}/standing.ts`,
    find: 'needs: values, choices: [], selected: null, mayGoWithout: values.length === 0',
    replace: 'needs: values.slice(0, 0), choices: [], selected: null, mayGoWithout: true',
  },
  {
    id: 'blocks.run.newly-required',
    file: `${folder}/runBlock.ts`,
    find: 'return isMissing(now.missing) ? incomplete(now.missing) : error;',
    replace: 'return error;',
  },
  {
    id: 'blocks.run.fixed',
    file: `${folder}/gatherInputs.ts`,
    find: "  if (errors.length > 0) throw new GatewayError('BLOCK_INPUTS_INVALID', { errors });\n",
    replace: '',
  },
  {
    id: 'blocks.run.output',
    file: `${folder}/runBlock.ts`,
    find: '  requireOutput(parts.asking.arguments, identity, tool?.outputSchema, answer);\n',
    replace: '',
  },
  {
    id: 'blocks.check.grouped',
    file: `${folder}/groupNeeds.ts`,
    find: 'if (!audienceOf(principal, server, acl.manageBits(principal, server)).isEditor) return undefined;',
    replace: '',
  },
  {
    id: 'blocks.check.grouped',
    file: `${folder}/groupNeeds.ts`,
    find: 'return (url === undefined ? undefined : canonicalUrl(url)) ?? JSON.stringify([id]);',
    replace: 'return url ?? JSON.stringify([id]);',
  },
  {
    id: 'blocks.check.quiet',
    file: `${folder}/checkBlock.ts`,
    find: 'if (needs.length === 0 && missing(',
    replace: 'if (needs.length === 0 || missing(',
  },
  {
    id: 'blocks.check.drift',
    file: `${folder}/checkBlock.ts`,
    find: 'return saved ?? all ?? undefined;',
    replace: 'return all ?? undefined;',
  },
  {
    id: 'stores.blocks.apart',
    file: sqlite,
    find: 'SELECT * FROM ${name} WHERE tenant = ? AND id = ?`',
    replace: 'SELECT * FROM ${name} WHERE length(?) > 0 AND id = ?`',
  },
  {
    id: 'stores.blocks.apart',
    file: sqlite,
    find: 'SELECT * FROM ${name} WHERE tenant = ? AND id IN',
    replace: 'SELECT * FROM ${name} WHERE length(?) > 0 AND id IN',
  },
  {
    id: 'stores.blocks.apart',
    file: mongo,
    find: 'model.findOne({ _id: id, tenant })',
    replace: 'model.findOne({ _id: id })',
  },
  {
    id: 'stores.blocks.apart',
    file: mongo,
    find: '(await gate.run(() => model.deleteOne({ _id: id, tenant }).exec())).deletedCount === 1,',
    replace:
      '(await gate.run(() => model.deleteOne({ _id: id }).exec())).deletedCount === 1 && tenant !== "",',
  },
  {
    id: 'stores.blocks.apart',
    file: memory,
    find: 'return record?.tenant === tenant ? record : undefined;',
    replace: 'return record;',
  },
  {
    id: 'stores.blocks.version',
    file: memory,
    find: "      if (current.version !== seen) return 'version_conflict';\n",
    replace: '',
  },
  {
    id: 'stores.blocks.limits',
    file: sqlite,
    find: "if (Number(held?.['n']) >= most) return 'full';",
    replace: "if (Number(held?.['n']) > most) return 'full';",
  },
  {
    id: 'stores.blocks.limits',
    file: mongo,
    find: 'if ((await count(tenant, owner)) <= most) return',
    replace: 'if ((await count(tenant, owner)) >= 0) return',
  },
  {
    id: 'stores.rotate.whole',
    file: 'packages/gateway/src/ports/collections.ts',
    find: "[{ field: 'sealed', value: block.sealed, context: blockContext(block) }]",
    replace: '(block.id, [])',
  },
];
