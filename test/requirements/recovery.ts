import type { Requirement } from '../requirements.ts';

/** What becomes of a call whose token is refused, and of grants that users have at servers. */
export const recovery: Record<string, Requirement> = {
  'recovery.c01.retry': [
    'done',
    'A refused token is renewed once, and the call is made once more with the new one.',
  ],
  'recovery.c01.session': [
    'done',
    'A session goes on with the new token; one that the server ended is begun anew with it, and the call runs there alone.',
  ],
  'recovery.r04.compared': [
    'done',
    'A token that another gateway has renewed meanwhile is taken from the store: nothing is sent for it.',
  ],
  'recovery.c02.audience': [
    'done',
    'A brand-new token that is refused too ends the call, and the grant stays.',
  ],
  'recovery.c03.step-up': [
    'done',
    'A wider scope is asked for together with all that was granted; the grant stays meanwhile.',
  ],
  'recovery.c04.capped': [
    'done',
    'A server that is never content sends its user round twice an hour at most.',
  ],
  'recovery.c04.forbidden': [
    'done',
    'A scope that was asked for and not granted is told as a refusal, and not asked for again and again.',
  ],
  'recovery.c05.forbidden': ['done', 'A plain 403 is told and changes nothing about the credential.'],
  'recovery.c06.uncertain': ['done', 'A call that may have written is not made a second time.'],
  'recovery.c07.read-only': [
    'done',
    'A reading call is repeated once only where the operator believes the server.',
  ],
  'recovery.c08.session': ['done', 'A session that the server forgot is begun anew, and the call runs once.'],
  'recovery.c09.text': ['done', 'Words about a 401 inside a result are a result.'],
  'recovery.c10.everything': [
    'done',
    'Lists, resources and prompts recover from a refused token as tools do.',
  ],
  'recovery.c11.breaker': ['done', 'Refusals of one user and errors of tools stop nobody else.'],
  'recovery.c12.background': [
    'done',
    'A renewal in the background begins no sign-in, and that one is needed is written down once.',
  ],
  'recovery.c13.own': ['done', 'A refusal by a server is never told as one of the caller’s own token.'],
  'recovery.c14.shutdown': ['done', 'A shutdown while a connection is opened anew begins no other session.'],
  'recovery.c15.absent': [
    'done',
    'Without a sign-in no token is asked for, and the user is told to sign in.',
  ],
  'recovery.c16.snapshot': [
    'done',
    'A connection that is opened anew shows one token, in its handshake and in the call.',
  ],
  'flow.peers.v1': [
    'done',
    'A server made with the first line of the SDK signs its users in and renews their tokens.',
  ],
  'flow.peers.first': [
    'done',
    'A server of revision 2025-03-26 signs its users in where the operator allows it, and only there.',
  ],
  'grants.auth.optional': ['done', 'Where a credential is optional, only who never had one goes without.'],
  'grants.auth.required': [
    'done',
    'Where a credential is required, nobody goes without, whatever the server would allow.',
  ],
  'grants.auth.detected': ['done', 'A server that asks for a sign-in becomes one at which users sign in.'],
  'grants.followed.elsewhere': [
    'done',
    'A grant that another replica ends or replaces is told of here, once, if it was in use here.',
  ],
  'grants.followed.renewed': ['done', 'A grant that is merely renewed closes nothing.'],
  'grants.followed.unused': ['done', 'What is not in use here is not looked at when something changed.'],
  'grants.followed.scene': [
    'done',
    'Signing out or in anew on one replica closes the connection on the other, and its tools are listed anew.',
  ],
  'grants.labels.default': [
    'done',
    'Of several credentials at a server the default one is used, and the user chooses it.',
  ],
  'grants.labels.removed': [
    'done',
    'When the chosen credential is ended, that is told, and the next call uses the one that is left.',
  ],
  'grants.sign-in.used': [
    'done',
    'What a user signed in for is what calls are made with; a token that was brought never stands before it unasked.',
  ],
  'grants.exclusive.one': [
    'done',
    'Where one call at a time is asked for, the calls of one user never meet at the server, and others do not wait.',
  ],
  'grants.exclusive.bounded': [
    'done',
    'Whoever waits for a credential that is in use is told after half a minute that it is busy.',
  ],
  'grants.reauth.campaign': [
    'done',
    'A sign-in that an administrator asks everybody for is told at once, and needed when the token ends.',
  ],
  'grants.server.removed': [
    'done',
    'With a server all that users were given at it is revoked, and what is under way there ends.',
  ],
  'grants.server.uninstalled': [
    'done',
    'Who takes all their values of a server away is signed out there, and no key that may only call does so.',
  ],
  'grants.app.shared': [
    'done',
    'A token of the gateway’s own serves everybody over one connection and is asked for once.',
  ],
  'grants.app.refused': ['done', 'A token of the gateway’s own that is refused is got anew once.'],
};
