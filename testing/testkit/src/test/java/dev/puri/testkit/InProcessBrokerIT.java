package dev.puri.testkit;

class InProcessBrokerIT extends BrokerContract {
    @Override
    RestartableBroker start() {
        return new InProcessBroker();
    }
}
