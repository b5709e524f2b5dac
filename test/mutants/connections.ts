import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Who shares a connection, and when it opens and closes. */
export const connections: readonly Mutant[] = [
  {
    id: 'connection-key-without-the-user',
    file: 'packages/gateway/src/connections/userPool.ts',
    find: 'server.revision, principal, binding, request]',
    replace: 'server.revision, binding, request]',
    test: 'packages/gateway/src/connections/realServers.test.ts',
  },
  {
    id: 'connection-key-with-ambiguous-separators',
    file: 'packages/gateway/src/connections/userPool.ts',
    find: 'own: JSON.stringify([server.tenant, server.id, server.revision, principal, binding, request]),',
    replace: 'own: [server.tenant, server.id, server.revision, principal, binding, request].join(\'","\'),',
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
    find: 'return borrowers === 0 ? connection.close() : Promise.resolve();',
    replace: 'return connection.close();',
    test: 'packages/gateway/src/connections/sharedPool.test.ts',
  },
  {
    id: 'impatient-caller-ends-the-opening-for-all',
    file: 'packages/gateway/src/connections/opening.ts',
    find: '          waiters.delete(waiter);\n',
    replace: '          waiters.delete(waiter);\n          abort.abort(abortReason(signal));\n',
    test: 'packages/gateway/src/connections/oneUser.test.ts',
  },
  {
    id: 'half-open-permit-released-too-early',
    file: 'packages/gateway/src/connections/userPool.ts',
    find: 'void whenSettled(keys).then(() => gate.leave(passage, pass));',
    replace: 'gate.leave(passage, pass);',
    test: 'packages/gateway/src/connections/breakers.test.ts',
  },
  {
    id: 'refused-credential-blocks-all-users',
    file: 'packages/gateway/src/connections/gate.ts',
    find: 'JSON.stringify([key, principal])',
    replace: 'JSON.stringify([key])',
    test: 'packages/gateway/src/connections/breakers.test.ts',
  },
  {
    id: 'connection-handed-over-before-it-is-borrowed',
    file: 'packages/gateway/src/connections/opening.ts',
    find: '        connection.borrow();\n',
    replace: '        queueMicrotask(() => connection.borrow());\n',
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
