import { ObjectId } from 'bson';
import type { Doc } from '../values.ts';

/** The wire version of MongoDB 7.0, whose behavior the manifest follows. */
const WIRE_VERSION = 21;
const VERSION = '7.0.0';
export const SET_NAME = 'behalf-test-double';

export interface Member {
  readonly address: string;
  readonly electionId: ObjectId;
}

export function createMember(address: string): Member {
  return { address, electionId: new ObjectId() };
}

/** Reports a replica set with one member: drivers use retryable writes only with a replica set. */
export function helloReply(member: Member, steppedDown: boolean, now: Date): Doc {
  return {
    ok: 1,
    helloOk: true,
    isWritablePrimary: !steppedDown,
    ismaster: !steppedDown,
    secondary: steppedDown,
    setName: SET_NAME,
    setVersion: 1,
    hosts: [member.address],
    me: member.address,
    ...(steppedDown ? {} : { primary: member.address, electionId: member.electionId }),
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: now,
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    maxWireVersion: WIRE_VERSION,
    readOnly: false,
    testDouble: mongoDoubleBanner(),
  };
}

export function buildInfoReply(): Doc {
  return {
    ok: 1,
    version: VERSION,
    versionArray: [7, 0, 0, 0],
    modules: [],
    maxBsonObjectSize: 16_777_216,
    testDouble: mongoDoubleBanner(),
  };
}

/** Returned by every handshake and buildInfo, so that the double is not mistaken for a database. */
export function mongoDoubleBanner(): string {
  return 'TEST DOUBLE of MongoDB: in memory, for tests only, never for users. No data is stored.';
}
