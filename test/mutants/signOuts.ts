import type { Mutant } from '../mutants.ts';

const file = 'packages/gateway/src/identity/sessions.ts';

/** A sign-out that meets what is being granted. */
export const signOuts: readonly Mutant[] = [
  {
    id: 'identity.session.sign-out.race',
    file,
    find: '    await endTokensOf(await grantedDuring(session));\n',
    replace: '',
  },
  {
    id: 'identity.session.sign-out.race',
    file,
    find: "if (grant.from === '' || (await sessions.find(grant.from, createdAt))) return;",
    replace: 'if (grant.from !== undefined) return;',
  },
  {
    id: 'identity.session.sign-out.race',
    file,
    find: '      await finish(session);\n',
    replace: '',
  },
  {
    id: 'identity.session.sign-out.race',
    file,
    find: ' + (await endListed(id)) + (await sessions',
    replace: ' + (await sessions',
  },
];
