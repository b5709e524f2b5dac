import type { FlowView } from '@behalf/contracts';
import { GatewayError } from '../src/errors/gatewayError.ts';
import type { InspectionState } from '../src/servers/inspection.ts';
import type { ServerSnapshot } from '../src/definitions/definition.ts';
import { reinitialize, type ReinitParts } from '../src/servers/reinit/reinitialize.ts';
import type { OpenOptions, RemoteTarget, UpstreamTarget } from '../src/upstream/target.ts';
import type { JsonObject, Upstream } from '../src/upstream/upstream.ts';
import { UpstreamError, type UpstreamReason } from '../src/upstream/upstreamError.ts';
import { defineServer, createToolcallRig } from './toolcallRig.ts';

/** The parts of a reinitialisation; what goes out bare is recorded. */
export function createReinitRig(
  definition: JsonObject = {},
  tools: readonly JsonObject[] = [{ name: 'search' }],
) {
  const server: ServerSnapshot = defineServer('odd', definition);
  const rig = createToolcallRig([server], tools);
  const rawOpens: { openMode: string; target: UpstreamTarget; options: Partial<OpenOptions> }[] = [];
  let closeCount = 0;
  const upstream: Upstream = {
    ...rig.upstream,
    async close() {
      closeCount += 1;
    },
  };
  const reinitialization = {
    server,
    rawOpens,
    closeCount: () => closeCount,
    state: { kind: 'skipped' } as InspectionState,
    onReinspect: (): Promise<InspectionState> => Promise.reject(new Error('not asked for')),
    onRawOpen: undefined as ((openMode: string) => UpstreamReason | undefined) | undefined,
    /** What a sign-in leads to; none can be offered. */
    signIn: undefined as FlowView | undefined,
    run: (options: object = {}, inbound = rig.inbound()) => reinitialize(parts, 'odd', options, inbound),
  };
  const extendedRig = Object.assign(rig, reinitialization);
  const openUpstream = (openMode: string, target: RemoteTarget, options: Partial<OpenOptions>): Upstream => {
    rawOpens.push({ openMode, target, options });
    const refusalReason = extendedRig.onRawOpen?.(openMode);
    if (refusalReason !== undefined) throw new UpstreamError(refusalReason);
    return upstream;
  };
  const parts: ReinitParts = {
    ...rig.parts,
    inspectionScheduler: {
      update: () => undefined,
      getState: () => extendedRig.state,
      reinspect: () => extendedRig.onReinspect(),
      close: () => undefined,
    },
    open: async (target, options) => openUpstream('open', target as RemoteTarget, options),
    openWithoutSession: (target, options) => openUpstream('without', target, options),
    signInStarter: {
      async start() {
        if (!extendedRig.signIn) throw new GatewayError('MCP_AUTHORIZATION_UNAVAILABLE');
        return extendedRig.signIn;
      },
    },
  };
  return extendedRig;
}
