import type { FlowView } from '@behalf/contracts';
import { GatewayError } from '../src/errors/gatewayError.ts';
import type { InspectionState } from '../src/registry/inspection.ts';
import type { ServerSnapshot } from '../src/registry/server.ts';
import { reinitialize, type ReinitParts } from '../src/reinit/reinitialize.ts';
import type { OpenOptions, RemoteTarget, UpstreamTarget } from '../src/upstream/target.ts';
import type { JsonObject, Upstream } from '../src/upstream/upstream.ts';
import { UpstreamError, type UpstreamReason } from '../src/upstream/upstreamError.ts';
import { define, toolcallRig } from './toolcallRig.ts';

/** The parts of a reinitialisation; what goes out bare is recorded. */
export function reinitRig(definition: JsonObject = {}, tools: readonly JsonObject[] = [{ name: 'search' }]) {
  const server: ServerSnapshot = define('odd', definition);
  const rig = toolcallRig([server], tools);
  const bare: { way: string; target: UpstreamTarget; options: Partial<OpenOptions> }[] = [];
  let closed = 0;
  const conversation: Upstream = {
    ...rig.upstream,
    async close() {
      closed += 1;
    },
  };
  const more = {
    server,
    bare,
    closed: () => closed,
    state: { kind: 'skipped' } as InspectionState,
    onReinspect: (): Promise<InspectionState> => Promise.reject(new Error('not asked for')),
    onBare: undefined as ((way: string) => UpstreamReason | undefined) | undefined,
    /** What a sign-in leads to; none can be offered. */
    signIn: undefined as FlowView | undefined,
    run: (options: object = {}, inbound = rig.inbound()) => reinitialize(parts, 'odd', options, inbound),
  };
  const whole = Object.assign(rig, more);
  const begin = (way: string, target: RemoteTarget, options: Partial<OpenOptions>): Upstream => {
    bare.push({ way, target, options });
    const refusal = whole.onBare?.(way);
    if (refusal !== undefined) throw new UpstreamError(refusal);
    return conversation;
  };
  const parts: ReinitParts = {
    ...rig.parts,
    inspection: {
      update: () => undefined,
      getState: () => whole.state,
      reinspect: () => whole.onReinspect(),
      close: () => undefined,
    },
    open: async (target, options) => begin('open', target as RemoteTarget, options),
    openWithoutSession: (target, options) => begin('without', target, options),
    signInStarter: {
      async start() {
        if (!whole.signIn) throw new GatewayError('MCP_AUTHORIZATION_UNAVAILABLE');
        return whole.signIn;
      },
    },
  };
  return whole;
}
