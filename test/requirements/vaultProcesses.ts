import type { Requirement } from '../requirements.ts';

/** The vault across real processes: on one host, and scaled out. */
export const vaultProcesses = {
  'vault.r01.storm': [
    'done',
    'Three processes with seventy calls each at the end of a token cost one token request; no family is revoked, all calls succeed.',
  ],
  'vault.r02.rotations': [
    'done',
    'Rotation after rotation with random pauses: as many token requests as rotations.',
  ],
  'vault.r05.killed-before-post': [
    'done',
    'A holder killed before it sent anything is followed by one request once its claim is over.',
  ],
  'vault.r06.killed-after-post': [
    'done',
    'A holder killed before it stored the answer is followed by one retry, which the grace of the authorization server forgives.',
  ],
  'vault.r07.killed-while-live': [
    'done',
    'After a holder was killed with the answer unread, the access token is used to its end, then one more try is made, and no loop.',
  ],
  'vault.r15.killed-with-pair': [
    'done',
    'A pair that a killed process could not store is taken up by another one, and nothing is sent again.',
  ],
  'vault.r09.frozen': [
    'done',
    'A holder frozen past its claim stores its pair if its refresh token is still the stored one; otherwise the loss is said once.',
  ],
  'vault.r12.redis-down': [
    'done',
    'Without Redis the claim in the record alone keeps it at one token request.',
  ],
  'vault.r21.skew': ['done', 'Clocks five minutes off steal no claim and start no loop.'],
  'vault.r27.terminated': [
    'done',
    'A process told to stop while it renews stores what it gets before it ends.',
  ],
  'vault.v03.own-token': [
    'done',
    'A thousand calls of two users at one server: none with the other one’s token.',
  ],
  'vault.v06.secrets': ['done', 'No token is found in what processes write, answer or store.'],
  'vault.v07.import': [
    'done',
    'A grant that another process brings is used by running ones within two seconds.',
  ],
  'testkit.oauth.reuse': [
    'done',
    'The authorization server of the testkit revokes the family of a reused refresh token.',
  ],
  'testkit.oauth.grace': [
    'done',
    'Within the grace window it gives the same successor, or an access token alone.',
  ],
  'testkit.oauth.script': ['done', 'It rotates and drops the answer, holds it, or answers by script.'],
  'testkit.oauth.consent': [
    'done',
    'Its consent checks PKCE and echoes state and issuer; a code is good once.',
  ],
  'testkit.oauth.clients': ['done', 'It knows clients by their document, by registration and by their key.'],
  'testkit.oauth.guard': [
    'done',
    'A scripted MCP server refuses what is not its token, with challenge and metadata.',
  ],
  'testkit.oauth.embedded': ['done', 'A scripted MCP server can be its own authorization server.'],
  'testkit.oauth.control': ['done', 'Other processes read its counters and set its switches.'],
} as const satisfies Record<string, Requirement>;
