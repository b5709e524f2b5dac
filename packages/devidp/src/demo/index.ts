export { DEMO_AUDIENCE, DEMO_TENANT, demoClient, demoResources, demoUsers } from './demoScene.ts';
export type { DemoGateway } from './gatewayProcess.ts';
export { startDemo, type Demo, type DemoOptions } from './startDemo.ts';
