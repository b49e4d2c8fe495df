<?php
declare(strict_types=1);

namespace Dlock\Doctor;

const LEAST_ZOOKEEPER = '3.5.0';
const ZOOKEEPER_WITH_CONTAINERS = '3.5.3';

Subjects::add(ZooKeeperServer::class, examine_version(...), ['containers', 'version']);

function examine_version(ZooKeeperServer $server): void
{
    if ($server->version === null) {
        return;
    }
    if (version_compare($server->version, LEAST_ZOOKEEPER, '<')) {
        $server->unusable('version', "is ZooKeeper $server->version.",
            'ZkLock needs ' . LEAST_ZOOKEEPER . ' or later.', 'Upgrade it.');
    } elseif (version_compare($server->version, ZOOKEEPER_WITH_CONTAINERS, '<')) {
        $server->warning('containers', "is ZooKeeper $server->version.",
            'It has no container nodes, so a node for each resource ever locked stays behind.',
            'Upgrade it to ' . ZOOKEEPER_WITH_CONTAINERS . ' or later.');
    }
}
