import type { Mutant } from '../mutants.ts';

const service = 'packages/gateway/src/conversations/createConversations.ts';
const sealing = 'packages/gateway/src/conversations/sealedConversations.ts';
const port = 'packages/gateway/src/ports/conversations.ts';
const memory = 'packages/stores/src/memory/conversations.ts';
const sqlite = 'packages/stores/src/sqlite/conversations.ts';
const mongo = 'packages/stores/src/mongo/conversations.ts';

export const conversations: readonly Mutant[] = [
  {
    id: 'conversations.own',
    file: memory,
    find: 'return found && isOf(tenant, userId)(found) ? found : undefined;',
    replace: 'return found;',
  },
  {
    id: 'conversations.sealed',
    file: sealing,
    find: 'keyring.seal(JSON.stringify(KeptChatMessage.parse(message)), chatMessageContext(key))',
    replace: 'JSON.stringify([KeptChatMessage.parse(message), chatMessageContext(key)])',
  },
  {
    id: 'conversations.tampered',
    file: port,
    find: "principal: `user:${userId}`,\n    server: '-',\n    kind: 'conversation',",
    replace: "principal: '-',\n    server: userId.slice(0, 0),\n    kind: 'conversation',",
  },
  {
    id: 'conversations.tampered',
    file: port,
    find: '    binding: [id],\n',
    replace: '    binding: [id.slice(0, 0)],\n',
  },
  {
    id: 'stores.copy.sealed-values',
    file: port,
    find: "principal: `user:${userId}`,\n    server: '-',\n    kind: 'chat-message',",
    replace: "principal: '-',\n    server: userId.slice(0, 0),\n    kind: 'chat-message',",
  },
  {
    id: 'conversations.tampered',
    file: port,
    find: 'binding: [conversationId, id]',
    replace: 'binding: [conversationId.slice(0, 0), id]',
  },
  {
    id: 'stores.copy.sealed-values',
    file: port,
    find: 'binding: [conversationId, id]',
    replace: 'binding: [conversationId, id.slice(0, 0)]',
  },
  {
    id: 'conversations.tampered',
    file: sealing,
    find: "        if (message.id !== id) throw new Error('The message of another row');\n",
    replace: '',
  },
  {
    id: 'conversations.tampered',
    file: sealing,
    find: 'const message = KeptChatMessage.parse(',
    replace: 'const message = ((value: unknown) => value as ChatMessage)(',
  },
  {
    id: 'conversations.tampered',
    file: service,
    find: '      const conversation = await find(owner, id);\n      const key =',
    replace:
      "      const conversation = { id, title: '', createdAt: 0, updatedAt: 0, ...(await store.find(owner.tenant, owner.userId, id)) };\n      const key =",
  },
  {
    id: 'conversations.gives-way',
    file: service,
    find: '        await giveWay();\n',
    replace: '',
  },
  {
    id: 'conversations.pages',
    file: service,
    find: 'found.length > limit ? writeCursor(last) : null',
    replace: 'found.length > limit + 1 ? writeCursor(last) : null',
  },
  {
    id: 'conversations.limits',
    file: service,
    find: "      if (record.sealed.length > LARGEST_MESSAGE) throw limited('message');\n",
    replace: '',
  },
  {
    id: 'conversations.limits',
    file: 'packages/stores/src/messageRoom.ts',
    find: "return others.size + size > room.size ? 'too_large' : null;",
    replace: 'return others.size > room.size || size > room.size ? null : null;',
  },
  {
    id: 'stores.conversations.apart',
    file: sqlite,
    find: "const OF_USER = 'tenant = ? AND userId = ?';",
    replace: "const OF_USER = 'length(?) > 0 AND userId = ?';",
  },
  {
    id: 'stores.conversations.apart',
    file: sqlite,
    find: "const OF_USER = 'tenant = ? AND userId = ?';",
    replace: "const OF_USER = 'tenant = ? AND length(?) > 0';",
  },
  {
    id: 'stores.conversations.apart',
    file: sqlite,
    find: 'messages.insert(tx, {',
    replace: 'messages.put(tx, {',
  },
  {
    id: 'stores.conversations.apart',
    file: mongo,
    find: 'conversations.findOne({ _id: id, tenant, userId })',
    replace: 'conversations.findOne({ _id: id, userId })',
  },
  {
    id: 'stores.conversations.apart',
    file: mongo,
    find: 'conversations.updateOne({ _id: id, tenant, userId }, { $set: { sealed } })',
    replace: 'conversations.updateOne({ _id: id, tenant }, { $set: { sealed } })',
  },
  {
    id: 'stores.conversations.apart',
    file: mongo,
    find: 'const its = { _id: conversationId, tenant, userId };',
    replace: 'const its = { _id: conversationId, tenant };',
  },
  {
    id: 'stores.conversations.apart',
    file: mongo,
    find: 'const gone = await gate.run(() => conversations.deleteOne({ _id: id, tenant, userId }).exec());',
    replace: 'const gone = await gate.run(() => conversations.deleteOne({ _id: id }).exec());',
  },
  {
    id: 'stores.conversations.apart',
    file: mongo,
    find: 'chatMessages.find({ tenant, userId, conversationId })',
    replace: 'chatMessages.find({ userId, conversationId })',
  },
  {
    id: 'stores.conversations.apart',
    file: memory,
    find: "      if (!current && chatMessages.has(id)) throw new Error('A message of this id exists elsewhere');\n",
    replace: '',
  },
  {
    id: 'stores.conversations.order',
    file: 'packages/stores/src/mongo/chatSchemas.ts',
    find: "{ name: 'place', unique: true }",
    replace: "{ name: 'place' }",
  },
  {
    id: 'stores.conversations.order',
    file: mongo,
    find: '        if (isDuplicateKey(error)) return null;\n',
    replace:
      "        if (isDuplicateKey(error)) return 'stored';\n        if (error === null) return null;\n",
  },
  {
    id: 'stores.conversations.replace',
    file: sqlite,
    find: '`${IN_CONVERSATION} AND id = ?`, ...place, id) === 0',
    replace: '`${IN_CONVERSATION} AND id <> ?`, ...place, id) === 0',
  },
  {
    id: 'stores.conversations.pages',
    file: sqlite,
    find: '(updatedAt, id) < (?, ?)',
    replace: 'updatedAt < ? AND length(?) > 0',
  },
  {
    id: 'stores.conversations.pages',
    file: mongo,
    find: '_id: { $lt: after.id }',
    replace: '_id: { $lte: after.id }',
  },
  {
    id: 'stores.conversations.rename',
    file: mongo,
    find: '{ $max: { updatedAt: at } }',
    replace: '{ $set: { updatedAt: at } }',
  },
  {
    id: 'stores.conversations.rename',
    file: sqlite,
    find: 'SET updatedAt = max(updatedAt, ?)',
    replace: 'SET updatedAt = ?',
  },
  {
    id: 'stores.conversations.limits',
    file: mongo,
    find: '      if ((await count(tenant, userId)) <= most) return',
    replace: '      if ((await count(tenant, userId)) >= 0) return',
  },
  {
    id: 'stores.conversations.limits',
    file: sqlite,
    find: "        if (Number(held?.['n']) >= most) return 'full';\n",
    replace: "        if (Number(held?.['n']) > most) return 'full';\n",
  },
  {
    id: 'stores.conversations.limits',
    file: sqlite,
    find: 'AND id <> ?',
    replace: 'AND length(?) > 0',
  },
  {
    id: 'stores.conversations.removal',
    file: sqlite,
    find: '        tx.run(`DELETE FROM chatMessages WHERE ${IN_CONVERSATION}`, tenant, userId, id);\n',
    replace: '',
  },
  {
    id: 'stores.conversations.removal',
    file: mongo,
    find: '      await removeMessages({ tenant, userId, conversationId: id });\n      return gone.deletedCount === 1;',
    replace: '      return gone.deletedCount === 1;',
  },
  {
    id: 'stores.conversations.removal',
    file: mongo,
    find: '    await removeMessages({ _id: id, ...place });\n',
    replace: '',
  },
  {
    id: 'stores.copy.sealed-values',
    file: 'packages/gateway/src/ports/collections.ts',
    find: "[{ field: 'sealed', value: message.sealed, context: chatMessageContext(message) }]",
    replace: '(message.id, [])',
  },
  {
    id: 'stores.rotate.whole',
    file: 'packages/gateway/src/ports/collections.ts',
    find: "{ field: 'sealed', value: conversation.sealed, context: conversationContext(conversation) },",
    replace: '',
  },
  {
    id: 'stores.copy.large-records',
    file: 'packages/stores/src/copy/pages.ts',
    find: 'smallerPages[name] ?? PAGE',
    replace: '(smallerPages[name], PAGE)',
  },
];
