import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Who shares a connection, and when it opens and closes. */
export const connections: readonly Mutant[] = [
  {
    id: 'connection-key-without-the-user',
    file: 'packages/gateway/src/connections/userPool.ts',
    find: 'server.revision, principal, binding, requestKey]',
    replace: 'server.revision, binding, requestKey]',
    test: 'packages/gateway/src/connections/realServers.test.ts',
  },
  {
    id: 'connection-key-with-ambiguous-separators',
    file: 'packages/gateway/src/connections/userPool.ts',
    find: 'ownKey: JSON.stringify([server.tenant, server.id, server.revision, principal, binding, requestKey]),',
    replace:
      'ownKey: [server.tenant, server.id, server.revision, principal, binding, requestKey].join(\'","\'),',
    test: 'packages/gateway/src/connections/userPool.test.ts',
  },
  {
    id: 'stateless-connection-shared-between-audiences',
    file: 'packages/gateway/src/connections/statelessConnections.ts',
    find: 'server.revision, url, audience, proxy]',
    replace: 'server.revision, url, proxy]',
    test: 'packages/gateway/src/connections/statelessConnections.test.ts',
  },
  {
    id: 'connection-closed-while-in-use',
    file: 'packages/gateway/src/connections/connection.ts',
    find: 'return borrowerCount === 0 ? connection.close() : Promise.resolve();',
    replace: 'return connection.close();',
    test: 'packages/gateway/src/connections/sharedPool.test.ts',
  },
  {
    id: 'impatient-caller-ends-the-opening-for-all',
    file: 'packages/gateway/src/connections/slot.ts',
    find: '            waiters.delete(waiter);\n',
    replace: '            waiters.delete(waiter);\n            abort.abort(abortReason(signal));\n',
    test: 'packages/gateway/src/connections/oneUser.test.ts',
  },
  {
    id: 'half-open-permit-released-too-early',
    file: 'packages/gateway/src/connections/userPool.ts',
    find: 'void waitForPending(keys).then(() => breakerGuard.release(request, permit));',
    replace: 'breakerGuard.release(request, permit);',
    test: 'packages/gateway/src/connections/breakers.test.ts',
  },
  {
    id: 'refused-credential-blocks-all-users',
    file: 'packages/gateway/src/connections/breakers.ts',
    find: 'JSON.stringify([key, principal])',
    replace: 'JSON.stringify([key])',
    test: 'packages/gateway/src/connections/breakers.test.ts',
  },
  {
    id: 'connection-handed-over-before-it-is-borrowed',
    file: 'packages/gateway/src/connections/slot.ts',
    find: '          adopted.connection.borrow();\n',
    replace: '          queueMicrotask(() => adopted.connection.borrow());\n',
    test: 'packages/gateway/src/connections/connectionsModel.test.ts',
  },
  {
    id: 'single-flight-key-with-ambiguous-separators',
    file: 'packages/kernel/src/singleFlight.ts',
    find: 'const id = JSON.stringify(key);',
    replace: "const id = key.join(':');",
    test: 'packages/kernel/src/singleFlight.test.ts',
  },
];
