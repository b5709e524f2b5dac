export { DEMO_AUDIENCE, DEMO_TENANT, demoClient, demoResources, demoUsers } from './demoData.ts';
export type { DemoGateway } from './startDemo.ts';
export { startDemo, type Demo, type DemoOptions } from './startDemo.ts';
