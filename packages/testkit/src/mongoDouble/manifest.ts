/**
 * Everything the test double understands, as data. Whatever is not listed here is answered with a server error, so a
 * test that needs more fails loudly instead of passing on a guess. Add a line only together with the code that does it
 * as MongoDB does, and a test.
 */
export const manifest = {
  /** Per command: its own options. `generalOptions` are allowed with all of them. */
  commands: {
    hello: ['helloOk', 'client', 'compression', 'backpressure', 'topologyVersion', 'maxAwaitTimeMS'],
    ismaster: ['helloOk', 'client', 'compression', 'backpressure', 'topologyVersion', 'maxAwaitTimeMS'],
    ping: [],
    buildInfo: [],
    endSessions: [],
    insert: ['documents', 'ordered', 'bypassDocumentValidation'],
    update: ['updates', 'ordered', 'bypassDocumentValidation'],
    delete: ['deletes', 'ordered'],
    find: ['filter', 'sort', 'projection', 'limit', 'skip', 'batchSize', 'singleBatch'],
    getMore: ['collection', 'batchSize'],
    killCursors: ['cursors'],
    findAndModify: [
      'query',
      'sort',
      'update',
      'remove',
      'new',
      'upsert',
      'fields',
      'bypassDocumentValidation',
    ],
    aggregate: ['pipeline', 'cursor'],
    count: ['query'],
    create: [],
    drop: [],
    createIndexes: ['indexes'],
    listIndexes: ['cursor'],
    dropIndexes: ['index'],
    listCollections: ['filter', 'nameOnly', 'authorizedCollections', 'cursor'],
    dropDatabase: [],
  },
  generalOptions: [
    '$db',
    'lsid',
    'txnNumber',
    'writeConcern',
    'readConcern',
    '$readPreference',
    'maxTimeMS',
    'comment',
  ],
  /** Commands that change data: refused while the double is not primary. */
  writes: [
    'insert',
    'update',
    'delete',
    'findAndModify',
    'create',
    'drop',
    'createIndexes',
    'dropIndexes',
    'dropDatabase',
  ],
  /** Commands that take part in retryable writes, so that may carry a txnNumber. */
  retryable: ['insert', 'update', 'delete', 'findAndModify'],
  /** Commands of the connection itself: faults never hit them. */
  housekeeping: ['hello', 'ismaster', 'ping', 'buildInfo', 'endSessions'],

  updateStatement: ['q', 'u', 'multi', 'upsert'],
  deleteStatement: ['q', 'limit'],
  indexFields: ['key', 'name', 'unique', 'partialFilterExpression', 'expireAfterSeconds', 'v'],
  writeConcern: { fields: ['w', 'wtimeout', 'wtimeoutMS', 'j'], w: [1, 'majority'] },
  readConcernLevels: ['local', 'majority', 'linearizable'],
  readPreferenceModes: ['primary', 'primaryPreferred'],

  logicalQueryOperators: ['$and', '$or', '$nor', '$expr'],
  queryOperators: [
    '$eq',
    '$ne',
    '$gt',
    '$gte',
    '$lt',
    '$lte',
    '$in',
    '$nin',
    '$exists',
    '$not',
    '$elemMatch',
    '$size',
  ],
  /** For texts that contain a text, in any case. The pattern may hold letters, digits and \\xHH, and nothing else. */
  textSearch: { fields: ['$regex', '$options'], options: 'i' },
  updateOperators: [
    '$set',
    '$setOnInsert',
    '$unset',
    '$inc',
    '$min',
    '$max',
    '$currentDate',
    '$push',
    '$addToSet',
    '$pull',
  ],
  updateStages: ['$set', '$addFields', '$unset', '$replaceWith'],
  aggregateStages: [
    '$match',
    '$sort',
    '$skip',
    '$limit',
    '$project',
    '$group',
    '$count',
    '$set',
    '$addFields',
  ],
  accumulators: ['$sum', '$min', '$max'],
  expressionOperators: [
    '$literal',
    '$cond',
    '$ifNull',
    '$and',
    '$or',
    '$not',
    '$eq',
    '$ne',
    '$gt',
    '$gte',
    '$lt',
    '$lte',
    '$add',
    '$subtract',
    '$filter',
    '$concatArrays',
    '$size',
    '$in',
    '$mergeObjects',
  ],
  variables: ['$$NOW', '$$ROOT', '$$REMOVE'],

  /** Values that may be stored: what comparison, uniqueness and sorting are right for. */
  valueTypes: [
    'null',
    'string',
    'number',
    'boolean',
    'date',
    'objectId',
    'int64',
    'binary',
    'object',
    'array',
  ],
} as const;

export type CommandName = keyof typeof manifest.commands;

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(manifest.commands, name);
}
