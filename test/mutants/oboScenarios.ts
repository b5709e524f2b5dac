import type { Mutant } from '../mutants.ts';

const obo = 'packages/gateway/src/credentials/obo';

export const oboScenarios: readonly Mutant[] = [
  {
    id: 'obo.shutdown.sessions-end',
    file: 'api/src/composeServers.ts',
    find: '  closers.add(() => connections.close());\n',
    replace: '',
  },
  {
    id: 'obo.concurrent-calls.one-exchange',
    file: `${obo}/oboBearer.ts`,
    find: 'await exchanger[how](job);',
    replace: 'await exchanger[how]({ ...job, key: `${job.key}${Math.random()}` });',
  },
  {
    id: 'obo.users.own-token',
    file: `${obo}/exchangeKey.ts`,
    find: 'JSON.stringify(fields)',
    replace: 'JSON.stringify(fields.slice(3, 5))',
  },
  {
    id: 'obo.replicas.one-exchange',
    file: `${obo}/createExchanger.ts`,
    find: 'if (!shared.answers) return exchange(course, job, made);',
    replace: 'return exchange(course, job, made);',
  },
];
